package io.millrace.wire;

/** A transaction has more parts than the reader may take; nothing behind the limit was read. */
public final class TooManyPartsException extends WireException {
  private static final long serialVersionUID = 1;

  TooManyPartsException(int most) {
    super("the transaction has more than " + most + " parts");
  }
}
