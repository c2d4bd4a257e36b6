package io.millrace.http;

import io.millrace.http.message.Head;
import io.millrace.http.message.HeadCache;
import io.millrace.http.message.HttpProblem;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What has come of a connection's next request, until its head is complete and, if an event loop
 * may answer it, its body as well. Every byte is reserved in the {@link RequestMemory}. For use by
 * one thread.
 */
final class RequestBuffer {
  /** The longest plain request, which is kept whole in memory. */
  static final int MOST_BYTES = 64 << 10;

  /** What is to be done with the bytes. */
  enum State {
    /** Wait for the rest of the head. */
    HEAD,
    /** Wait for the rest of the body: {@link #head} is the head of a plain request. */
    BODY,
    /** Serve {@link #head} with {@link #behindHead} as body: this is exactly one plain request. */
    WHOLE,
    /** Serve {@link #head}, of a request that needs a thread. */
    OTHER,
    /** Answer {@link #problem} and close. */
    REFUSED
  }

  private static final byte[] NONE = new byte[0];

  private final HeadCache heads;
  private final HttpLimits limits;
  private final RequestMemory memory;
  private byte[] bytes = NONE;
  private int length;
  private int searched;
  private int lineEnd;
  private @Nullable Head head;
  private @Nullable HttpProblem problem;

  RequestBuffer(HeadCache heads, HttpLimits limits, RequestMemory memory) {
    this.heads = heads;
    this.limits = limits;
    this.memory = memory;
  }

  boolean isEmpty() {
    return length == 0;
  }

  /** Takes more bytes, and says what is to be done with all of them. */
  State add(ByteBuffer more) {
    int count = more.remaining();
    int total = length + count;
    if (total > bytes.length) {
      // Exactly what came first, which usually is all; then more at a time.
      int room = length == 0 ? total : Math.max(total, 2 * bytes.length);
      if (!memory.reserve(room - bytes.length, room)) {
        problem = RequestMemory.full();
        return State.REFUSED;
      }
      bytes = length == 0 ? new byte[room] : Arrays.copyOf(bytes, room);
    }
    more.get(bytes, length, count);
    length = total;
    try {
      return state();
    } catch (HttpProblem e) {
      problem = e;
      return State.REFUSED;
    }
  }

  private State state() {
    Head found = head;
    if (found == null) {
      int headBytes = headBytes();
      if (headBytes == 0) {
        return State.HEAD;
      }
      found = heads.find(bytes, headBytes);
      if (found == null) {
        found = Head.read(bytes, headBytes);
        heads.add(bytes, found);
      }
      head = found;
    }
    if (!found.isPlain()) {
      return State.OTHER;
    }
    long whole = found.length() + found.bodyBytes();
    if (length > whole || whole > MOST_BYTES) {
      return State.OTHER;
    }
    return length == whole ? State.WHOLE : State.BODY;
  }

  /**
   * The bytes up to the empty line, with it; 0 if that has not come.
   *
   * @throws HttpProblem 400, 414 or 431 as soon as it is certain that no good head will come
   */
  private int headBytes() {
    for (int i = searched; i < length; i++) {
      if (bytes[i] != '\n') {
        continue;
      }
      if (i == 0 || bytes[i - 1] != '\r') {
        throw HttpProblem.malformed("a line of the head ends in LF alone; lines end in CR and LF");
      }
      if (lineEnd == 0) {
        lineEnd = i + 1;
        checkSize(lineEnd);
      }
      if (i == 1 || (i >= 3 && bytes[i - 2] == '\n')) {
        checkSize(i + 1);
        return i + 1;
      }
    }
    searched = length;
    checkSize(length);
    return 0;
  }

  private void checkSize(int bytesOfHead) {
    int most = limits.maxRequestLineBytes();
    if (lineEnd == 0 ? bytesOfHead > most : lineEnd > most) {
      throw new HttpProblem(414, "the request line exceeds the limit of " + most + " bytes");
    }
    if (lineEnd > 0 && bytesOfHead - lineEnd > limits.maxHeaderBytes()) {
      throw new HttpProblem(
          431, "the headers exceed the limit of " + limits.maxHeaderBytes() + " bytes");
    }
  }

  /** The head, once it is complete. */
  Head head() {
    return there(head);
  }

  /** Why the request cannot be taken. */
  HttpProblem problem() {
    return there(problem);
  }

  private static <T> T there(@Nullable T part) {
    if (part == null) {
      throw new IllegalStateException("the request has not come so far");
    }
    return part;
  }

  /** A copy of the bytes behind the head. */
  byte[] behindHead() {
    return Arrays.copyOfRange(bytes, head().length(), length);
  }

  /** Empties it, and leaves what is reserved to the caller. Returns how many bytes that is. */
  int taken() {
    int reserved = bytes.length;
    forget();
    return reserved;
  }

  /** Empties it, and gives back what is reserved. */
  void clear() {
    memory.release(taken());
  }

  private void forget() {
    bytes = NONE;
    length = 0;
    searched = 0;
    lineEnd = 0;
    head = null;
    problem = null;
  }
}
