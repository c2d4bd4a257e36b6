package io.millrace.server;

/** The root of what the server throws at those who start it. */
public class ServerException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** With a message that a person can act on. */
  public ServerException(String message) {
    super(message);
  }

  /** With a message that a person can act on, and what led to it. */
  public ServerException(String message, Throwable cause) {
    super(message, cause);
  }
}
