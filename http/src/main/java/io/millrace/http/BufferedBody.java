package io.millrace.http;

import io.millrace.http.message.HttpProblem;
import java.io.IOException;
import java.util.Arrays;

/**
 * The complete body of a request that a thread serves. Its memory, and that of the JSON tree that
 * the caller parses it to, is reserved until {@link #release}. For use by one thread.
 */
final class BufferedBody {
  private static final byte[] EMPTY = new byte[0];
  private static final int FIRST_READ_BYTES = 64 << 10;

  /** The memory that a value or a name in a JSON tree takes besides its text. */
  private static final int TREE_NODE_BYTES = 64;

  private final RequestBody stream;
  private final RequestMemory memory;
  private long reservedBytes;

  /** A body of which nothing has been read. */
  BufferedBody(RequestBody stream, RequestMemory memory) {
    this.stream = stream;
    this.memory = memory;
  }

  /**
   * Reads the body.
   *
   * @param announced its length in bytes; negative if it is chunked
   * @param limit its largest length in bytes
   * @throws HttpProblem 413 if it is longer, or can never fit into the memory for requests; 503 if
   *     there is no memory for it now
   */
  byte[] read(long announced, int limit) throws IOException {
    int max = (int) Math.min(limit, memory.largestBytes());
    if (announced > max) {
      throw tooLarge(max);
    }
    int first = announced < 0 ? FIRST_READ_BYTES : (int) Math.min(announced, FIRST_READ_BYTES);
    byte[] content = resized(EMPTY, Math.min(first, max + 1));
    int length = 0;
    while (true) {
      int read = stream.read(content, length, content.length - length);
      if (read < 0) {
        break;
      }
      length += read;
      if (length == announced) {
        break;
      }
      if (length > max) {
        throw tooLarge(max);
      }
      if (length == content.length) {
        content = resized(content, (int) Math.min(2L * length, max + 1L));
      }
    }
    return length == content.length ? content : Arrays.copyOf(content, length);
  }

  /** Copies bytes to a larger array, for which memory is reserved. */
  private byte[] resized(byte[] content, int bytes) {
    int more = bytes - content.length;
    if (!memory.reserve(more, bytes)) {
      throw RequestMemory.full();
    }
    reservedBytes += more;
    return Arrays.copyOf(content, bytes);
  }

  /**
   * Reserves memory for the JSON tree of a body that was read.
   *
   * @throws HttpProblem 413 if the tree can never fit into the memory for requests, 503 if there is
   *     no memory for it now
   */
  void reserveTree(byte[] text) {
    long more = (long) TREE_NODE_BYTES * countNodes(text);
    long total = reservedBytes + more;
    if (total > memory.largestBytes()) {
      throw HttpProblem.tooLarge(
          "the JSON of the body has too many values: they would take "
              + total
              + " bytes of memory, and one request may have "
              + memory.largestBytes());
    }
    if (!memory.reserve(more, total)) {
      throw RequestMemory.full();
    }
    reservedBytes = total;
  }

  /** An estimate of the number of values and names of a JSON text, which may be malformed. */
  private static int countNodes(byte[] text) {
    int count = 1;
    boolean quoted = false;
    for (int i = 0; i < text.length; i++) {
      switch (text[i]) {
        case '"' -> quoted = !quoted;
        case '\\' -> i++;
        case ',', ':', '[', '{' -> count += quoted ? 0 : 1;
        default -> {}
      }
    }
    return count;
  }

  /** Releases the memory, at the end of the request. */
  void release() {
    memory.release(reservedBytes);
    reservedBytes = 0;
  }

  /** The refusal of a body that is longer than this. */
  static HttpProblem tooLarge(int maxBytes) {
    return HttpProblem.tooLarge("the body exceeds the limit of " + maxBytes + " bytes");
  }
}
