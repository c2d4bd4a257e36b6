package io.millrace.http.websocket;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The head of a frame from a client.
 *
 * @param opcode its kind
 * @param last whether it is the last frame of its message
 * @param length the length of its payload in bytes
 * @param mask the mask of its payload; the first byte is the most significant
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

    /** The kind with this opcode; null if there is none. */
    static @Nullable Opcode of(int bits) {
      for (Opcode opcode : values()) {
        if (opcode.bits == bits) {
          return opcode;
        }
      }
      return null;
    }
  }

  /** Close codes of RFC 6455. */
  static final class CloseCode {
    static final int NORMAL = 1000;
    static final int GOING_AWAY = 1001;
    static final int PROTOCOL_ERROR = 1002;
    static final int NO_CODE = 1005;
    static final int BROKEN = 1006;
    static final int NOT_UTF8 = 1007;
    static final int POLICY = 1008;
    static final int TOO_LONG = 1009;
    static final int INTERNAL_ERROR = 1011;
    static final int TRY_AGAIN_LATER = 1013;

    private CloseCode() {}

    /** Whether a peer may send this code. */
    static boolean maySend(int code) {
      boolean registered = code >= NORMAL && code <= 1014;
      boolean reserved = code == 1004 || code == NO_CODE || code == BROKEN;
      boolean privateUse = code >= 3000 && code <= 4999;
      return privateUse || (registered && !reserved);
    }
  }

  /** The peer violated the protocol or a limit, or there is no memory; the connection is closed. */
  static final class ViolationException extends IOException {
    private final int code;

    /** Whether the frames after it can still be parsed. */
    private final boolean framed;

    private ViolationException(int code, String reason, boolean framed) {
      super(reason);
      this.code = code;
      this.framed = framed;
    }

    /** A malformed or unexpected frame: 1002. */
    static ViolationException broken(String reason) {
      return new ViolationException(CloseCode.PROTOCOL_ERROR, reason, false);
    }

    /** Too long: 1009. */
    static ViolationException tooLong(String reason) {
      return new ViolationException(CloseCode.TOO_LONG, reason, true);
    }

    /** No memory for a message now: 1013. */
    static ViolationException noRoom(String reason) {
      return new ViolationException(CloseCode.TRY_AGAIN_LATER, reason, true);
    }

    /** A text that is not UTF-8: 1007. */
    static ViolationException notUtf8(String reason) {
      return new ViolationException(CloseCode.NOT_UTF8, reason, true);
    }

    int code() {
      return code;
    }

    String reason() {
      return String.valueOf(getMessage());
    }

    boolean framed() {
      return framed;
    }
  }
}
