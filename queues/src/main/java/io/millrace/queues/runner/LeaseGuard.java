package io.millrace.queues.runner;

import io.millrace.queues.LostClaimException;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews a claim at a third of its lease, and says in time when that fails. Time is counted by this
 * process's monotonic clock, from before the last successful renewal was sent.
 */
final class LeaseGuard implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseGuard.class);
  private static final Duration LONGEST_MARGIN = Duration.ofSeconds(10);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);

  private final Schedule schedule;
  private final Duration lease;
  private final Runnable renewal;
  private final Watcher watcher;
  private @Nullable ScheduledFuture<?> next;
  private @Nullable ScheduledFuture<?> deadline;
  private boolean closed;

  /** Who hears what becomes of the claim. Called on a thread that must not be held up. */
  interface Watcher {
    /** The claim was renewed, and lasts for {@code left} from now on. */
    void renewed(Duration left);

    /** The lease ends in {@code left} unless work stops before; nothing is renewed any more. */
    void endsIn(Duration left);

    /** The claim is somebody else's. */
    void lost();
  }

  LeaseGuard(Schedule schedule, Duration lease, Runnable renewal, Watcher watcher) {
    this.schedule = schedule;
    this.lease = lease;
    this.renewal = renewal;
    this.watcher = watcher;
  }

  /** The claim was last renewed by what was sent at this time of {@link System#nanoTime()}. */
  synchronized void begin(long sentNanos) {
    renewed(sentNanos);
    plan(lease.dividedBy(3));
  }

  private synchronized void renewed(long sentNanos) {
    cancel(deadline);
    if (!closed) {
      long left = sentNanos + lease.minus(margin()).toNanos() - System.nanoTime();
      deadline = schedule.guard().schedule(this::end, Math.max(0, left), TimeUnit.NANOSECONDS);
    }
  }

  private synchronized void plan(Duration delay) {
    if (!closed) {
      next = schedule.renewal().schedule(this::renew, delay.toNanos(), TimeUnit.NANOSECONDS);
    }
  }

  private void renew() {
    long sent = System.nanoTime();
    try {
      renewal.run();
      renewed(sent);
      watcher.renewed(lease.minusNanos(System.nanoTime() - sent));
      plan(lease.dividedBy(3));
    } catch (LostClaimException e) {
      if (closeOnce()) {
        LOG.warn("{}", e.getMessage());
        watcher.lost();
      }
    } catch (RuntimeException e) {
      LOG.warn("a claim could not be renewed, and is tried again: {}", e.toString());
      Duration pause = lease.dividedBy(12);
      plan(pause.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause);
    }
  }

  private Duration margin() {
    Duration margin = lease.dividedBy(5);
    return margin.compareTo(LONGEST_MARGIN) > 0 ? LONGEST_MARGIN : margin;
  }

  private void end() {
    if (closeOnce()) {
      watcher.endsIn(margin());
    }
  }

  private synchronized boolean closeOnce() {
    boolean first = !closed;
    close();
    return first;
  }

  private static void cancel(@Nullable ScheduledFuture<?> future) {
    if (future != null) {
      future.cancel(false);
    }
  }

  /** Renews no more and says nothing more. */
  @Override
  public synchronized void close() {
    closed = true;
    cancel(next);
    cancel(deadline);
  }
}
