package io.millrace.server.graph.type;

import io.millrace.graph.Tail;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Output that is known as a whole from the beginning. */
final class TextTail implements Tail {
  private final byte[] bytes;

  TextTail(String text) {
    this.bytes = text.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public long size() {
    return bytes.length;
  }

  @Override
  public byte[] read(long offset, int most) {
    int from = (int) Math.min(offset, bytes.length);
    return Arrays.copyOfRange(bytes, from, (int) Math.min(bytes.length, (long) from + most));
  }
}
