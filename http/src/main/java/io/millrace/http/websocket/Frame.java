package io.millrace.http.websocket;

import org.jspecify.annotations.Nullable;

/**
 * The head of a frame that a client sent.
 *
 * @param opcode its kind
 * @param last whether it is the last of its message
 * @param length of its payload in bytes
 * @param mask what its payload is masked with, the first byte on top
 */
record Frame(Opcode opcode, boolean last, long length, int mask) {
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
}
