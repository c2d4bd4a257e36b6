package io.millrace.wire;

/**
 * Client ids on the wire. Old clients draw any 32-bit integer, negative ones too, and read it back
 * as one; the store knows only 0 to 2^53 - 1. So a negative id stands for 2^53 plus itself, in both
 * directions.
 */
final class ClientIds {
  private static final long RANGE = 1L << 53;
  private static final long NEGATIVE = 1L << 31;

  private ClientIds() {}

  /** The store's client id for what a field holds. */
  static long read(JsonInput in) {
    long id = in.integer(-NEGATIVE, RANGE - NEGATIVE - 1);
    return id < 0 ? RANGE + id : id;
  }

  /** What to write for the store's client id. */
  static long shown(long client) {
    return client >= RANGE - NEGATIVE && client < RANGE ? client - RANGE : client;
  }
}
