package io.millrace.http;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * How long a request that waits for something goes on waiting: until its time is over, its client
 * has gone, or the server stops. For use by one thread; to be closed.
 */
public final class Deadline implements AutoCloseable {
  /** How soon a wait notices that the client or the server goes. */
  private static final Duration STEP = Duration.ofMillis(250);

  private final long end;
  private final AtomicBoolean over = new AtomicBoolean();
  private final PendingWait wait;

  /** So long from now at most. */
  public Deadline(Request request, Duration timeout) {
    this.end = System.nanoTime() + timeout.toNanos();
    this.wait = request.beginWait(_ -> over.set(true));
  }

  /** How long the next wait may be; zero if there is to be none. */
  public Duration step() {
    long left = over.get() ? 0 : end - System.nanoTime();
    return Duration.ofNanos(Math.clamp(left, 0, STEP.toNanos()));
  }

  @Override
  public void close() {
    wait.close();
  }
}
