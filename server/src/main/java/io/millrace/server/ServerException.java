package io.millrace.server;

import org.jspecify.annotations.Nullable;

/** The root of the exceptions that the start of a server throws. */
public class ServerException extends RuntimeException {
  /** Has a message that a person can act on. */
  public ServerException(String message) {
    super(message);
  }

  /** Has a message that a person can act on, and the cause if there is one. */
  public ServerException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
