package io.millrace.server.websocket;

import org.jspecify.annotations.Nullable;

/** The kinds of frames. */
enum Opcode {
  CONTINUATION(0),
  TEXT(1),
  BINARY(2),
  CLOSE(8),
  PING(9),
  PONG(10);

  private final int bits;

  Opcode(int bits) {
    this.bits = bits;
  }

  int bits() {
    return bits;
  }

  boolean isControl() {
    return bits >= 8;
  }

  /** The kind with these bits; null for none. */
  static @Nullable Opcode of(int bits) {
    for (Opcode opcode : values()) {
      if (opcode.bits == bits) {
        return opcode;
      }
    }
    return null;
  }
}
