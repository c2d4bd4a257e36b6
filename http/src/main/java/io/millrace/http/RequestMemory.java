package io.millrace.http;

import io.millrace.http.message.HttpProblem;
import io.millrace.http.websocket.WebSocketConnection;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory budget of all requests: incomplete heads and bodies, complete bodies until they are
 * answered, text messages of WebSockets, and responses that clients are slow to read. Thread-safe.
 */
final class RequestMemory implements WebSocketConnection.Memory {
  /** The {@code Retry-After} of a request for which there was no memory, in seconds. */
  static final int RETRY_SECONDS = 1;

  /** Requests up to this size may use the whole budget; the last eighth is reserved for them. */
  static final int SMALL_BYTES = 8 << 10;

  private final long budgetBytes;
  private final AtomicLong used = new AtomicLong();
  private volatile Runnable shortage = () -> {};

  /** A budget in bytes. */
  RequestMemory(long budgetBytes) {
    this.budgetBytes = budgetBytes;
  }

  /** Sets an action that runs whenever a reservation fails. Called before the first reservation. */
  void onShortage(Runnable action) {
    shortage = action;
  }

  /**
   * Reserves bytes for a request.
   *
   * @param bytes how many more
   * @param total how many the request has with these
   * @return false if there is no room; nothing is reserved then
   */
  @Override
  public boolean reserve(long bytes, long total) {
    long max = total <= SMALL_BYTES ? budgetBytes : largestBytes();
    if (used.addAndGet(bytes) <= max) {
      return true;
    }
    used.addAndGet(-bytes);
    shortage.run();
    return false;
  }

  /** Counts bytes that are already in memory, even beyond the budget. */
  void add(long bytes) {
    used.addAndGet(bytes);
  }

  /** Releases reserved or added bytes. */
  @Override
  public void release(long bytes) {
    if (bytes != 0) {
      used.addAndGet(-bytes);
    }
  }

  /** The bytes in use. */
  long usedBytes() {
    return used.get();
  }

  /** The most that one request can ever reserve, in bytes. */
  long largestBytes() {
    return budgetBytes - budgetBytes / 8;
  }

  /** The response to a request for which there is no memory. */
  static HttpProblem full() {
    return HttpProblem.unavailable(
        "the memory for requests is used up (server.request-memory-bytes); try again later",
        RETRY_SECONDS);
  }
}
