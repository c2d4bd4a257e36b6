package io.millrace.work;

import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews a claim at a third of its lease, and says in time when that fails, so that the work under
 * the claim has ended before the lease does. Time is counted by a monotonic clock of this process,
 * from before the last successful renewal was sent. Safe for use by threads.
 */
public final class LeaseKeeper implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseKeeper.class);
  private static final Duration LONGEST_MARGIN = Duration.ofSeconds(10);
  private static final Duration LONGEST_RETRY = Duration.ofSeconds(2);

  private final Timers timers;
  private final Duration lease;
  private final BooleanSupplier renewal;
  private final Listener listener;
  private Runnable cancelRenewal = () -> {};
  private Runnable cancelDeadline = () -> {};
  private boolean closed;

  /** Hears what becomes of the claim, on threads that must not be held up. */
  public interface Listener {
    /** The claim was renewed, and lasts for {@code left} from now on. */
    void renewed(Duration left);

    /**
     * The lease ends in {@code left}, and the work must end before; nothing is renewed any more.
     */
    void endsIn(Duration left);

    /** The claim is lost: another client may have it. */
    void lost();
  }

  /** Calls back later. */
  @FunctionalInterface
  public interface Timer {
    /**
     * Calls after some time.
     *
     * @param nanos zero or less for at once
     * @return cancels the call
     */
    Runnable set(long nanos, Runnable call);

    /** Calls back on the thread of an executor. */
    static Timer of(ScheduledExecutorService executor) {
      return (nanos, call) -> {
        ScheduledFuture<?> due = executor.schedule(call, Math.max(0, nanos), TimeUnit.NANOSECONDS);
        return () -> due.cancel(false);
      };
    }
  }

  /**
   * The clock and the timers.
   *
   * @param nanos a clock that never goes back
   * @param deadline for what must happen in time, and never waits for a server
   * @param renewal for renewals, which may wait for a server
   */
  public record Timers(LongSupplier nanos, Timer deadline, Timer renewal) {}

  /**
   * A keeper that does nothing yet.
   *
   * @param renewal renews the claim, and says whether it is still held; throws to be tried again
   */
  public LeaseKeeper(Timers timers, Duration lease, BooleanSupplier renewal, Listener listener) {
    this.timers = timers;
    this.lease = lease;
    this.renewal = renewal;
    this.listener = listener;
  }

  /** How long after one renewal the next is due: a third of the lease. */
  public static Duration renewAfter(Duration lease) {
    return lease.dividedBy(3);
  }

  /** How long after a failed renewal the next is due: a twelfth of the lease, up to 2 seconds. */
  public static Duration retryAfter(Duration lease) {
    return min(lease.dividedBy(12), LONGEST_RETRY);
  }

  /** How long before its end the work is told to end: a fifth of the lease, up to 10 seconds. */
  public static Duration margin(Duration lease) {
    return min(lease.dividedBy(5), LONGEST_MARGIN);
  }

  private static Duration min(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  /** Begins with a claim that was last renewed by a request sent at this time of the clock. */
  public synchronized void begin(long sentNanos) {
    renewed(sentNanos);
    plan(renewAfter(lease));
  }

  private synchronized void renewed(long sentNanos) {
    cancelDeadline.run();
    if (!closed) {
      long left = sentNanos + lease.minus(margin(lease)).toNanos() - timers.nanos().getAsLong();
      cancelDeadline = timers.deadline().set(left, this::end);
    }
  }

  private synchronized void plan(Duration delay) {
    if (!closed) {
      cancelRenewal = timers.renewal().set(delay.toNanos(), this::renew);
    }
  }

  private void renew() {
    long sent = timers.nanos().getAsLong();
    try {
      if (renewal.getAsBoolean()) {
        renewed(sent);
        listener.renewed(lease.minusNanos(timers.nanos().getAsLong() - sent));
        plan(renewAfter(lease));
      } else if (closeOnce()) {
        listener.lost();
      }
    } catch (RuntimeException e) {
      LOG.warn("a claim could not be renewed; it is tried again: {}", e.toString());
      plan(retryAfter(lease));
    }
  }

  private void end() {
    if (closeOnce()) {
      listener.endsIn(margin(lease));
    }
  }

  private synchronized boolean closeOnce() {
    boolean first = !closed;
    close();
    return first;
  }

  /** Renews no more and calls the listener no more. */
  @Override
  public synchronized void close() {
    closed = true;
    cancelRenewal.run();
    cancelDeadline.run();
  }
}
