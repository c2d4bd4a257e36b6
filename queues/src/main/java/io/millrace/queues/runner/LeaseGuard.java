package io.millrace.queues.runner;

import io.millrace.queues.LostClaimException;
import java.time.Duration;
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

  private final LeaseClock clock;
  private final Duration lease;
  private final Runnable renewal;
  private final Watcher watcher;
  private Runnable cancelRenewal = () -> {};
  private Runnable cancelDeadline = () -> {};
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

  LeaseGuard(LeaseClock clock, Duration lease, Runnable renewal, Watcher watcher) {
    this.clock = clock;
    this.lease = lease;
    this.renewal = renewal;
    this.watcher = watcher;
  }

  /** The claim was last renewed by what was sent at this time of the clock. */
  synchronized void begin(long sentNanos) {
    renewed(sentNanos);
    plan(lease.dividedBy(3));
  }

  private synchronized void renewed(long sentNanos) {
    cancelDeadline.run();
    if (!closed) {
      long left = sentNanos + lease.minus(margin()).toNanos() - clock.nanos().getAsLong();
      cancelDeadline = clock.guard().set(left, this::end);
    }
  }

  private synchronized void plan(Duration delay) {
    if (!closed) {
      cancelRenewal = clock.renewal().set(delay.toNanos(), this::renew);
    }
  }

  private void renew() {
    long sent = clock.nanos().getAsLong();
    try {
      renewal.run();
      renewed(sent);
      watcher.renewed(lease.minusNanos(clock.nanos().getAsLong() - sent));
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

  /** Renews no more and says nothing more. */
  @Override
  public synchronized void close() {
    closed = true;
    cancelRenewal.run();
    cancelDeadline.run();
  }
}
