package io.millrace.jobs.worker;

/** A worker's message that is none of the protocol. The message says why, in a few words. */
final class MalformedMessageException extends Exception {
  private static final long serialVersionUID = 1;

  MalformedMessageException(String message) {
    super(message);
  }
}
