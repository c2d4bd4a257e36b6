package io.millrace.server.http;

import io.helidon.http.HeaderNames;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The plain heads that came last, byte for byte, with what they mean: a client that asks for the
 * same again saves the parsing. At most 64, of at most 1 KiB each. For use by one thread.
 */
final class KnownHeads {
  private static final int PLACES = 64;
  private static final int MOST_BYTES = 1 << 10;

  private static final class Known {
    final int hash;
    final byte[] bytes;
    final PlainHead head;

    Known(int hash, byte[] bytes, PlainHead head) {
      this.hash = hash;
      this.bytes = bytes;
      this.head = head;
    }
  }

  private final @Nullable Known[] places = new Known[PLACES];

  /** What the first bytes mean, where that is remembered; else null. */
  @Nullable PlainHead find(byte[] bytes, int headBytes) {
    int hash = hash(bytes, headBytes);
    Known known = places[place(hash)];
    return known != null
            && known.hash == hash
            && Arrays.equals(bytes, 0, headBytes, known.bytes, 0, known.bytes.length)
        ? known.head
        : null;
  }

  /**
   * Remembers a head, in the place of another that has the same. One with credentials is not kept:
   * how long a search takes must not tell anything about them.
   */
  void add(byte[] bytes, PlainHead head) {
    if (bytes.length <= MOST_BYTES && !head.headers().contains(HeaderNames.AUTHORIZATION)) {
      int hash = hash(bytes, bytes.length);
      places[place(hash)] = new Known(hash, bytes, head);
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
