package io.millrace.graph.store;

import io.millrace.blobs.Tail;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;

/** Output that a test lets grow. */
final class TextTail implements Tail {
  private final ByteArrayOutputStream written = new ByteArrayOutputStream();

  synchronized TextTail write(byte[] bytes) {
    written.writeBytes(bytes);
    return this;
  }

  TextTail write(String text) {
    return write(TextPages.bytes(text));
  }

  @Override
  public synchronized long size() {
    return written.size();
  }

  @Override
  public synchronized byte[] read(long offset, int most) {
    byte[] all = written.toByteArray();
    int from = (int) Math.min(offset, all.length);
    return Arrays.copyOfRange(all, from, Math.min(all.length, from + most));
  }
}
