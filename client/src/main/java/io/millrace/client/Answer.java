package io.millrace.client;

import io.millrace.wire.Answers;
import io.millrace.wire.WireException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** What the server answered. A class, since an array in a record would not be a value. */
final class Answer {
  private final int status;
  private final @Nullable String position;
  private final @Nullable String time;
  private final byte[] body;

  Answer(int status, @Nullable String position, @Nullable String time, byte[] body) {
    this.status = status;
    this.position = position;
    this.time = time;
    this.body = body;
  }

  /** The HTTP status. */
  int status() {
    return status;
  }

  /** The header with the position of a read; null where there is none. */
  @Nullable String position() {
    return position;
  }

  /** The header with the store time of a read; null where there is none. */
  @Nullable String time() {
    return time;
  }

  /** The body, not a copy. */
  byte[] body() {
    return body;
  }

  /** The server's own words for what went wrong. */
  String error() {
    try {
      return Answers.readError(body);
    } catch (WireException _) {
      String text = new String(body, 0, Math.min(body.length, 200), StandardCharsets.UTF_8);
      return text.isBlank() ? "no reason given" : text.strip();
    }
  }
}
