package io.millrace.http;

import io.millrace.http.message.Head;
import io.millrace.http.message.HeadCache;
import io.millrace.http.message.HttpProblem;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of the next request of a connection: its head and, if an event loop may answer it, its
 * body. Its memory is reserved in the {@link RequestMemory}. For use by one thread.
 */
final class RequestBuffer {
  /** The longest plain request, head and body, in bytes. */
  static final int MAX_BYTES = 64 << 10;

  /** What to do next. */
  enum State {
    /** Wait for the rest of the head. */
    HEAD,
    /** Wait for the rest of the body: {@link #head} is the head of a plain request. */
    BODY,
    /** Handle {@link #head} and {@link #body}: they are exactly one plain request. */
    COMPLETE,
    /** Start a thread for the request of {@link #head}. */
    NEEDS_THREAD,
    /** Answer with {@link #problem} and close. */
    REFUSED
  }

  private static final byte[] NONE = new byte[0];

  private final HeadCache heads;
  private final HttpLimits limits;
  private final RequestMemory memory;
  private byte[] bytes = NONE;
  private int length;

  /** How many bytes have been searched for the end of the head. */
  private int searched;

  /** The end of the request line; 0 until it is found. */
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

  /** Adds bytes, and returns what to do next. */
  State add(ByteBuffer more) {
    int count = more.remaining();
    int total = length + count;
    if (total > bytes.length) {
      // At first exactly as much as has arrived, since that is usually all; then doubled.
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
      return State.NEEDS_THREAD;
    }
    long total = found.length() + found.bodyBytes();
    if (length > total || total > MAX_BYTES) {
      return State.NEEDS_THREAD;
    }
    return length == total ? State.COMPLETE : State.BODY;
  }

  /**
   * The length of the head with its empty line; 0 if it is not complete.
   *
   * @throws HttpProblem 400, 414 or 431 as soon as it is certain that the head cannot be valid
   */
  private int headBytes() {
    for (int i = searched; i < length; i++) {
      if (bytes[i] != '\n') {
        continue;
      }
      if (i == 0 || bytes[i - 1] != '\r') {
        throw HttpProblem.malformed("a line of the head ends in LF only; lines end in CR and LF");
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
    int maxLine = limits.maxRequestLineBytes();
    if (lineEnd == 0 ? bytesOfHead > maxLine : lineEnd > maxLine) {
      throw new HttpProblem(414, "the request line exceeds the limit of " + maxLine + " bytes");
    }
    if (lineEnd > 0 && bytesOfHead - lineEnd > limits.maxHeaderBytes()) {
      throw new HttpProblem(
          431, "the headers exceed the limit of " + limits.maxHeaderBytes() + " bytes");
    }
  }

  /** The head, once it is complete. */
  Head head() {
    return require(head);
  }

  /** Why the request is refused. */
  HttpProblem problem() {
    return require(problem);
  }

  private static <T> T require(@Nullable T part) {
    if (part == null) {
      throw new IllegalStateException("the request is in the wrong state");
    }
    return part;
  }

  /** A copy of the bytes after the head. */
  byte[] body() {
    return Arrays.copyOfRange(bytes, head().length(), length);
  }

  /**
   * Empties the buffer. Returns the bytes of memory that remain reserved, for the caller to
   * release.
   */
  int handOver() {
    int reserved = bytes.length;
    bytes = NONE;
    length = 0;
    searched = 0;
    lineEnd = 0;
    head = null;
    problem = null;
    return reserved;
  }

  /** Empties the buffer and releases its memory. */
  void clear() {
    memory.release(handOver());
  }
}
