package io.millrace.http.websocket;

import java.io.IOException;

/** What a peer sent breaks a rule or finds no room; it is answered by closing. */
final class ViolationException extends IOException {
  private static final long serialVersionUID = 1;

  private final int code;

  /** Whether the frames after it can still be told apart. */
  private final boolean framed;

  private ViolationException(int code, String reason, boolean framed) {
    super(reason);
    this.code = code;
    this.framed = framed;
  }

  /** No frame, or one out of place: 1002. */
  static ViolationException broken(String reason) {
    return new ViolationException(CloseCode.PROTOCOL_ERROR, reason, false);
  }

  /** Too long: 1009. */
  static ViolationException tooLong(String reason) {
    return new ViolationException(CloseCode.TOO_LONG, reason, true);
  }

  /** Something for which there is no room now: 1013. */
  static ViolationException noRoom(String reason) {
    return new ViolationException(CloseCode.TRY_AGAIN_LATER, reason, true);
  }

  /** A text that is none: 1007. */
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
