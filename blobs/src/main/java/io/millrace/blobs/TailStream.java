package io.millrace.blobs;

import java.io.InputStream;
import java.util.Objects;

/** The bytes of a tail from one offset up to another, or up to where nothing more is there. */
final class TailStream extends InputStream {
  private final Tail tail;
  private final long to;
  private long at;

  TailStream(Tail tail, long from, long to) {
    this.tail = tail;
    this.at = from;
    this.to = to;
  }

  @Override
  public int read() {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] target, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, target.length);
    if (length == 0) {
      return 0;
    }
    int most = (int) Math.min(length, to - at);
    byte[] part = most == 0 ? new byte[0] : tail.read(at, most);
    System.arraycopy(part, 0, target, offset, part.length);
    at += part.length;
    return part.length == 0 ? -1 : part.length;
  }
}
