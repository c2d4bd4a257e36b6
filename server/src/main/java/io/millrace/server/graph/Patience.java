package io.millrace.server.graph;

import io.millrace.server.http.Request;
import io.millrace.server.http.Watch;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/** How long a request goes on waiting. For use by one thread; to be closed. */
final class Patience implements AutoCloseable {
  /** How soon a wait notices that the client or the server goes. */
  private static final Duration STEP = Duration.ofMillis(250);

  private final long end;
  private final AtomicBoolean over = new AtomicBoolean();
  private final Watch watch;

  /** Begins; ends when the time is over, the client has gone, or the server stops. */
  Patience(Request request, Duration timeout) {
    this.end = System.nanoTime() + timeout.toNanos();
    this.watch = request.watch(_ -> over.set(true));
  }

  /** How long the next wait may be; zero when there is to be none. */
  Duration step() {
    long left = over.get() ? 0 : end - System.nanoTime();
    return Duration.ofNanos(Math.clamp(left, 0, STEP.toNanos()));
  }

  @Override
  public void close() {
    watch.close();
  }
}
