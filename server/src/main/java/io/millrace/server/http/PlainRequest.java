package io.millrace.server.http;

import io.helidon.http.Headers;
import io.helidon.http.HttpPrologue;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** A plain request whose every byte has come. */
final class PlainRequest implements Incoming {
  private final PlainHead head;
  private final byte[] bytes;

  /**
   * A request.
   *
   * @param bytes all of it, not copied
   */
  PlainRequest(PlainHead head, byte[] bytes) {
    this.head = head;
    this.bytes = bytes;
  }

  @Override
  public HttpPrologue prologue() {
    return head.prologue();
  }

  @Override
  public Headers headers() {
    return head.headers();
  }

  @Override
  public long bodyBytes() {
    return head.bodyBytes();
  }

  @Override
  public @Nullable RequestMemory memory() {
    return null;
  }

  @Override
  public InputStream body() {
    return new ByteArrayInputStream(bytes, head.headBytes(), head.bodyBytes());
  }
}
