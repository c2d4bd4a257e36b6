package io.millrace.http;

import io.millrace.http.message.HttpProblem;
import io.millrace.http.websocket.WebSocketConnection;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The budget for what requests keep in memory: heads and bodies that have come only in part, whole
 * bodies until they are answered, WebSocket texts, and answers that their clients are slow to read.
 * Safe for use by threads.
 */
final class RequestMemory implements WebSocketConnection.Memory {
  /** The suggested time after which a request that found no room may come again, in seconds. */
  static final int RETRY_SECONDS = 1;

  /** Requests up to this size may use all of the budget; the last eighth is for them alone. */
  static final int SMALL_BYTES = 8 << 10;

  private final long budgetBytes;
  private final AtomicLong used = new AtomicLong();
  private volatile Runnable shortage = () -> {};

  /** A budget of so many bytes. */
  RequestMemory(long budgetBytes) {
    this.budgetBytes = budgetBytes;
  }

  /** Runs {@code action} whenever a reservation fails. Set once, before the first reservation. */
  void onShortage(Runnable action) {
    shortage = action;
  }

  /**
   * Reserves more bytes for a request.
   *
   * @param bytes how many more
   * @param total how many it then has
   * @return false if there is no room, so that nothing is reserved
   */
  @Override
  public boolean reserve(long bytes, long total) {
    long most = total <= SMALL_BYTES ? budgetBytes : budgetBytes - budgetBytes / 8;
    if (used.addAndGet(bytes) <= most) {
      return true;
    }
    used.addAndGet(-bytes);
    shortage.run();
    return false;
  }

  /** Counts bytes that are in memory already, even beyond the budget. */
  void add(long bytes) {
    used.addAndGet(bytes);
  }

  /** Gives bytes back. */
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

  /** The longest body that can ever be kept. */
  long largestBytes() {
    return budgetBytes - budgetBytes / 8;
  }

  /** What to answer to a request for which there is no room. */
  static HttpProblem full() {
    return HttpProblem.unavailable(
        "the memory for requests is used up (server.request-memory-bytes); try again later",
        RETRY_SECONDS);
  }
}
