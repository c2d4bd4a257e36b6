package io.millrace.examples.wordcount;

/** Word count failed; the message says why. */
public final class WordcountException extends RuntimeException {
  private static final long serialVersionUID = 1;

  WordcountException(String message) {
    super(message);
  }
}
