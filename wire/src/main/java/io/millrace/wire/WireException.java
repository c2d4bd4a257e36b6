package io.millrace.wire;

/** A text is not the expected JSON; the message says what is wrong and where. */
public sealed class WireException extends RuntimeException {
  /** An exception whose message says what is wrong and where. */
  public WireException(String message) {
    super(message);
  }

  /** An exception whose message says what is wrong and where, with the parser's exception. */
  public WireException(String message, Throwable cause) {
    super(message, cause);
  }

  /** A transaction has more parts than allowed; reading stopped there. */
  public static final class TooManyParts extends WireException {
    TooManyParts(int max) {
      super("the transaction has more than " + max + " parts");
    }
  }
}
