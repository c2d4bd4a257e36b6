package io.millrace.http.message;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The heads of plain requests that came last, byte for byte. Clients send the same few again and
 * again, so they need not be parsed again. At most 64, of at most 1 KiB each. For use by one
 * thread.
 */
public final class HeadCache {
  private static final int PLACES = 64;
  private static final int MOST_BYTES = 1 << 10;

  private static final class Known {
    final int hash;
    final byte[] bytes;
    final Head head;

    Known(int hash, byte[] bytes, Head head) {
      this.hash = hash;
      this.bytes = bytes;
      this.head = head;
    }
  }

  private final @Nullable Known[] places = new Known[PLACES];

  /** The head that consists of the first bytes; null if it is not in the cache. */
  public @Nullable Head find(byte[] bytes, int headBytes) {
    int hash = hash(bytes, headBytes);
    Known known = places[place(hash)];
    return known != null
            && known.hash == hash
            && Arrays.equals(bytes, 0, headBytes, known.bytes, 0, known.bytes.length)
        ? known.head
        : null;
  }

  /**
   * Adds a head, if it is that of a plain request. One with credentials is not kept: how long a
   * search takes must not tell anything about them.
   *
   * @param bytes begin with the head
   */
  public void add(byte[] bytes, Head head) {
    int length = head.length();
    if (head.isPlain() && length <= MOST_BYTES && head.first(Headers.AUTHORIZATION) == null) {
      int hash = hash(bytes, length);
      places[place(hash)] = new Known(hash, Arrays.copyOf(bytes, length), head);
    }
  }

  private static int hash(byte[] bytes, int length) {
    int hash = 1;
    for (int i = 0; i < length; i++) {
      hash = 31 * hash + bytes[i];
    }
    return hash;
  }

  private static int place(int hash) {
    return (hash ^ (hash >>> 16)) & (PLACES - 1);
  }
}
