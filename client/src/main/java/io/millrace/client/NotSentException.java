package io.millrace.client;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A request failed before any of it was sent, so the server cannot have seen it. */
class NotSentException extends IOException {
  private static final long serialVersionUID = 1;

  NotSentException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /** The server is not trusted, so a retry would not help. */
  static final class Untrusted extends NotSentException {
    private static final long serialVersionUID = 1;

    Untrusted(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }
}
