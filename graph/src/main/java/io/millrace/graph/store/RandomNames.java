package io.millrace.graph.store;

import java.util.HexFormat;
import java.util.random.RandomGenerator;

/** Draws unique names. Safe for use by threads, which share the generator under its own lock. */
record RandomNames(RandomGenerator random) {
  private static final int BYTES = 16;

  /** Bytes that nobody can guess. */
  byte[] bytes(int count) {
    byte[] bytes = new byte[count];
    synchronized (random) {
      random.nextBytes(bytes);
    }
    return bytes;
  }

  /** A name of 32 hexadecimal digits. */
  String next() {
    return HexFormat.of().formatHex(bytes(BYTES));
  }
}
