package io.millrace.graph;

import java.util.HexFormat;
import java.util.random.RandomGenerator;

/** Names that nothing else has. Safe for use by any number of threads. */
final class Names {
  private static final int BYTES = 16;

  private final RandomGenerator random;

  Names(RandomGenerator random) {
    this.random = random;
  }

  /** Bytes that nobody can guess. */
  synchronized byte[] bytes(int count) {
    byte[] bytes = new byte[count];
    random.nextBytes(bytes);
    return bytes;
  }

  /** The number of a client of the store. */
  synchronized long client() {
    return random.nextLong(1, NodeId.MOST);
  }

  /** 32 digits. */
  String next() {
    return HexFormat.of().formatHex(bytes(BYTES));
  }
}
