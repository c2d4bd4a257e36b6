package io.millrace.jobs.worker;

/** The WebSocket close codes with which the server ends connections. */
final class CloseCode {
  /** The connection has served its purpose. */
  static final int NORMAL = 1000;

  /** The server cannot go on. */
  static final int SERVER_ERROR = 1011;

  /** A message is not of the form that the protocol asks for. */
  static final int MALFORMED = 1007;

  /** A message is well formed, and not allowed here; or what was due did not come. */
  static final int NOT_ALLOWED = 1008;

  private CloseCode() {}
}
