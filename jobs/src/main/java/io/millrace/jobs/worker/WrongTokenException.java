package io.millrace.jobs.worker;

import io.millrace.jobs.JobsException;

/** A worker's registration token is wrong. */
public final class WrongTokenException extends JobsException {
  private static final long serialVersionUID = 1;

  /** With a message for people, which does not hold the token. */
  public WrongTokenException() {
    super("the worker's token is wrong");
  }
}
