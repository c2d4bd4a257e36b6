package io.millrace.server.http;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What has come of a connection's next request, until it is there as a whole or turns out to be
 * none that can be served without waiting. For use by one thread.
 */
final class Inbox {
  /** The longest request that is kept whole in memory before anything looks at it. */
  static final int MOST_BYTES = 64 << 10;

  /** What is to be done with the bytes. */
  enum State {
    /** Wait for more. */
    PARTIAL,
    /** Serve {@link #request}: they are exactly one plain request. */
    PLAIN,
    /** Leave them to the library. */
    OTHER
  }

  private static final byte[] BEGIN = {'P', 'O', 'S', 'T', ' '};
  private static final byte[] NONE = new byte[0];

  private final PlainReader reader;
  private byte[] bytes = NONE;
  private int searched;
  private @Nullable PlainHead head;

  Inbox(PlainReader reader) {
    this.reader = reader;
  }

  /** Takes more bytes, and says what is to be done with all of them. */
  State add(ByteBuffer more) {
    int before = bytes.length;
    bytes =
        before == 0 ? new byte[more.remaining()] : Arrays.copyOf(bytes, before + more.remaining());
    more.get(bytes, before, bytes.length - before);
    return state();
  }

  private State state() {
    if (bytes.length > MOST_BYTES || !begins()) {
      return State.OTHER;
    }
    if (head == null) {
      int headBytes = headBytes();
      if (headBytes == 0) {
        return reader.mayGrow(bytes.length) ? State.PARTIAL : State.OTHER;
      }
      head = reader.read(bytes, headBytes);
    }
    PlainHead found = head;
    if (found == null || bytes.length > found.length() || found.length() > MOST_BYTES) {
      return State.OTHER;
    }
    return bytes.length == found.length() ? State.PLAIN : State.PARTIAL;
  }

  private boolean begins() {
    int length = Math.min(BEGIN.length, bytes.length);
    return Arrays.equals(bytes, 0, length, BEGIN, 0, length);
  }

  /** The bytes up to the empty line, with it; 0 while that has not come. */
  private int headBytes() {
    for (int i = searched; i + 3 < bytes.length; i++) {
      if (bytes[i] == '\r'
          && bytes[i + 1] == '\n'
          && bytes[i + 2] == '\r'
          && bytes[i + 3] == '\n') {
        return i + 4;
      }
    }
    searched = Math.max(0, bytes.length - 3);
    return 0;
  }

  /** The request that is there as a whole. */
  PlainRequest request() {
    PlainHead found = head;
    if (found == null) {
      throw new IllegalStateException("there is no whole request");
    }
    return new PlainRequest(found, bytes);
  }

  /** All bytes, which are then the caller's, so that it is empty again; null for none. */
  byte @Nullable [] drain() {
    byte[] all = bytes;
    bytes = NONE;
    searched = 0;
    head = null;
    return all.length == 0 ? null : all;
  }
}
