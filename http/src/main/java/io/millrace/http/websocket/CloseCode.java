package io.millrace.http.websocket;

/** The close codes of RFC 6455 that are used here. */
final class CloseCode {
  static final int NORMAL = 1000;
  static final int GOING_AWAY = 1001;
  static final int PROTOCOL_ERROR = 1002;
  static final int NO_CODE = 1005;
  static final int BROKEN = 1006;
  static final int NOT_UTF8 = 1007;
  static final int TOO_LONG = 1009;
  static final int INTERNAL_ERROR = 1011;
  static final int TRY_AGAIN_LATER = 1013;

  private CloseCode() {}

  /** Whether a peer may send it. */
  static boolean maySend(int code) {
    boolean registered = code >= NORMAL && code <= 1014;
    boolean reserved = code == 1004 || code == NO_CODE || code == BROKEN;
    boolean ofUsers = code >= 3000 && code <= 4999;
    return ofUsers || (registered && !reserved);
  }
}
