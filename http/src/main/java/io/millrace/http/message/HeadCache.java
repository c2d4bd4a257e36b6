package io.millrace.http.message;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A cache of the last heads of plain requests, by their bytes. Clients send the same few heads
 * again and again, which then need not be parsed. It has at most 64 heads of at most 1 KiB each.
 * For use by one thread.
 */
public final class HeadCache {
  private static final int SLOTS = 64;
  private static final int MAX_BYTES = 1 << 10;

  private static final class Entry {
    final int hash;
    final byte[] bytes;
    final Head head;

    Entry(int hash, byte[] bytes, Head head) {
      this.hash = hash;
      this.bytes = bytes;
      this.head = head;
    }
  }

  private final @Nullable Entry[] entries = new Entry[SLOTS];

  /**
   * The head that consists of the first {@code headBytes} bytes; null if it is not in the cache.
   */
  public @Nullable Head find(byte[] bytes, int headBytes) {
    int hash = hash(bytes, headBytes);
    Entry entry = entries[slot(hash)];
    return entry != null
            && entry.hash == hash
            && Arrays.equals(bytes, 0, headBytes, entry.bytes, 0, entry.bytes.length)
        ? entry.head
        : null;
  }

  /**
   * Adds a head if it is plain and short. A head with credentials is not added, because the
   * duration of a lookup must not reveal anything about them.
   *
   * @param bytes an array that begins with the head
   */
  public void add(byte[] bytes, Head head) {
    int length = head.length();
    if (head.isPlain() && length <= MAX_BYTES && head.first(Headers.AUTHORIZATION) == null) {
      int hash = hash(bytes, length);
      entries[slot(hash)] = new Entry(hash, Arrays.copyOf(bytes, length), head);
    }
  }

  private static int hash(byte[] bytes, int length) {
    int hash = 1;
    for (int i = 0; i < length; i++) {
      hash = 31 * hash + bytes[i];
    }
    return hash;
  }

  private static int slot(int hash) {
    return (hash ^ (hash >>> 16)) & (SLOTS - 1);
  }
}
