package io.millrace.work.policy;

import io.millrace.store.environment.DurationText;
import java.time.Duration;
import java.util.Optional;

/**
 * When a piece of work is over time: while it waits for an attempt, and as a whole. Immutable.
 * Times are in milliseconds since the epoch.
 *
 * @param waitMillis how long it may wait for the start of an attempt, from when it can be started;
 *     0 for any time
 * @param totalMillis how long all of it may take, from when it can be started first to its end; 0
 *     for any time
 * @param waitEndMillis when its present wait is over time; 0 for never
 * @param endMillis when it is over time as a whole; 0 for never
 */
public record Deadlines(long waitMillis, long totalMillis, long waitEndMillis, long endMillis) {
  /** It may take any time. */
  public static final Deadlines NONE = new Deadlines(0, 0, 0, 0);

  /**
   * Those of new work.
   *
   * @param runnableMillis when it can be started
   */
  public static Deadlines of(Policy policy, long runnableMillis) {
    if (policy.isEmpty()) {
      return NONE;
    }
    long wait = policy.waitTimeout().map(Duration::toMillis).orElse(0L);
    long total = policy.totalTimeout().map(Duration::toMillis).orElse(0L);
    return wait == 0 && total == 0
        ? NONE
        : new Deadlines(wait, total, 0, 0).restarted(runnableMillis);
  }

  /** Whether it may take any time. */
  public boolean isEmpty() {
    return waitMillis == 0 && totalMillis == 0;
  }

  /** The same for work that waits for its next attempt, which can start at this time. */
  public Deadlines waiting(long runnableMillis) {
    return waitMillis == 0
        ? this
        : new Deadlines(waitMillis, totalMillis, runnableMillis + waitMillis, endMillis);
  }

  /** The same for work that begins anew and can be started at this time. */
  public Deadlines restarted(long runnableMillis) {
    return isEmpty()
        ? this
        : new Deadlines(
            waitMillis,
            totalMillis,
            waitMillis == 0 ? 0 : runnableMillis + waitMillis,
            totalMillis == 0 ? 0 : runnableMillis + totalMillis);
  }

  /**
   * When it is over time if nothing happens; 0 for never.
   *
   * @param waits whether it waits for an attempt
   */
  public long next(boolean waits) {
    if (!waits || waitEndMillis == 0) {
      return endMillis;
    }
    return endMillis == 0 ? waitEndMillis : Math.min(waitEndMillis, endMillis);
  }

  /**
   * The limit that it exceeds, as a reason for people; empty if it is in time.
   *
   * @param waits whether it waits for an attempt
   */
  public Optional<String> exceeded(boolean waits, long nowMillis) {
    if (endMillis > 0 && endMillis <= nowMillis) {
      return Optional.of(
          "it took longer than its total_timeout of "
              + DurationText.show(Duration.ofMillis(totalMillis)));
    }
    return waits && waitEndMillis > 0 && waitEndMillis <= nowMillis
        ? Optional.of(
            "it waited longer than its wait_timeout of "
                + DurationText.show(Duration.ofMillis(waitMillis)))
        : Optional.empty();
  }

  /**
   * How long an attempt that starts now may take; 0 for any time.
   *
   * @param attemptMillis how long any attempt may take; 0 for any time
   */
  public long attemptMillis(long attemptMillis, long nowMillis) {
    if (endMillis == 0) {
      return attemptMillis;
    }
    long left = Math.max(1, endMillis - nowMillis);
    return attemptMillis == 0 ? left : Math.min(attemptMillis, left);
  }
}
