package io.millrace.blobs;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Output that may still grow, read by offset. Safe for use by any number of threads. */
public interface Tail {
  /** Its size so far, in bytes. */
  long size();

  /**
   * Reads the bytes that exist now; never waits for more.
   *
   * @param offset in bytes, from 0
   * @param most the most bytes to return, from 1
   * @return the bytes; empty at or past the present end
   */
  byte[] read(long offset, int most);

  /**
   * Opens it from {@code offset}. The stream ends at the end that the output has when it is
   * reached.
   *
   * @param offset in bytes, from 0
   */
  default InputStream open(long offset) {
    return new TailStream(this, offset, Long.MAX_VALUE);
  }

  /**
   * The last bytes that exist now, as text without white space around it. It begins with an
   * ellipsis if there is more before it; bytes that are not UTF-8 are replaced.
   *
   * @param most the most bytes of it, from 1
   * @return null if there are none but white space
   */
  default @Nullable String lastText(int most) {
    long from = Math.max(0, size() - most);
    byte[] bytes = read(from, most);
    int start = 0;
    // The rest of a character that begins before.
    while (from > 0 && start < bytes.length && (bytes[start] & 0xC0) == 0x80) {
      start++;
    }
    String text = new String(bytes, start, bytes.length - start, StandardCharsets.UTF_8).strip();
    return text.isEmpty() ? null : from > 0 ? "…" + text : text;
  }

  /** A complete tail: the bytes of {@code text} in UTF-8. */
  static Tail of(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return new Tail() {
      @Override
      public long size() {
        return bytes.length;
      }

      @Override
      public byte[] read(long offset, int most) {
        int from = (int) Math.min(offset, bytes.length);
        return Arrays.copyOfRange(bytes, from, (int) Math.min(bytes.length, (long) from + most));
      }
    };
  }

  /** The bytes of a tail from one offset up to another, or up to its present end. */
  static final class TailStream extends InputStream {
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
}
