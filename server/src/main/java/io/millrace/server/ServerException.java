package io.millrace.server;

import org.jspecify.annotations.Nullable;

/** The root of what the server throws at those who start it. */
public class ServerException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** With a message that a person can act on. */
  public ServerException(String message) {
    super(message);
  }

  /** With a message that a person can act on, and the cause if there is one. */
  public ServerException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
