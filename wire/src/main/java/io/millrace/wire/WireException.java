package io.millrace.wire;

/** Bytes are not the JSON that they should be; the message names what is wrong and where. */
public sealed class WireException extends RuntimeException {
  /** With what is wrong and where. */
  public WireException(String message) {
    super(message);
  }

  /** With what is wrong and where, and what found it. */
  public WireException(String message, Throwable cause) {
    super(message, cause);
  }

  /** A transaction has more parts than the reader may take; it stopped reading there. */
  public static final class TooManyParts extends WireException {
    TooManyParts(int most) {
      super("the transaction has more than " + most + " parts");
    }
  }
}
