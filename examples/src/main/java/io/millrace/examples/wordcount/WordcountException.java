package io.millrace.examples.wordcount;

/** Words cannot be counted; the message says why. */
public final class WordcountException extends RuntimeException {
  private static final long serialVersionUID = 1;

  WordcountException(String message) {
    super(message);
  }
}
