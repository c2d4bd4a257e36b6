package io.millrace.graph;

import io.millrace.store.environment.DurationText;
import io.millrace.work.policy.Retention;
import java.time.Duration;

/**
 * When a node may start, and how long it may wait, take and stay; durations and times in
 * milliseconds, 0 for none. Immutable.
 *
 * @param atMillis it does not start before this time
 * @param delayMillis it does not start earlier than this long after it became ready for the first
 *     time
 * @param waitMillis the longest time between the moment when it may start and its start, for each
 *     attempt
 * @param totalMillis the longest time between the moment when it may start for the first time and
 *     its end, with all attempts and the pauses between them
 * @param keep how long its graph stays in the store after it has ended, and how many graphs that
 *     have a node of its name; what it does not say is as for graphs otherwise
 */
public record Timing(
    long atMillis, long delayMillis, long waitMillis, long totalMillis, Retention keep) {
  /** It starts when it is ready, and may wait and take for ever. */
  public static final Timing NONE = new Timing(0, 0, 0, 0, Retention.FOREVER);

  private static final long NEVER = Long.MAX_VALUE;

  /** Whether there is neither a time nor a limit for its start and its attempts. */
  public boolean isNone() {
    return atMillis == 0 && delayMillis == 0 && waitMillis == 0 && totalMillis == 0;
  }

  /** The same with another time and number to stay. */
  public Timing keeping(Retention newKeep) {
    return new Timing(atMillis, delayMillis, waitMillis, totalMillis, newKeep);
  }

  /**
   * The phase of a node that has become ready: it records when the node is due for the first time.
   */
  public Phase.Waiting ready(Phase.Waiting waiting, long nowMillis) {
    boolean first = waiting.attempt() == 0;
    long due =
        first
            ? Math.max(atMillis, nowMillis + delayMillis)
            : Math.max(waiting.notBeforeMillis(), nowMillis);
    long notBefore = first ? (due > nowMillis ? due : 0) : waiting.notBeforeMillis();
    return new Phase.Waiting(waiting.attempts(), notBefore, waiting.reason(), due);
  }

  /** When a ready node has waited too long; the largest number for never. */
  public long expiryMillis(Phase.Waiting waiting) {
    return waiting.dueMillis() == 0
        ? NEVER
        : Math.min(waitEndMillis(waiting), totalEndMillis(waiting.dueMillis()));
  }

  /** Why a node has failed that has waited too long, for people. */
  public String expiryReason(Phase.Waiting waiting) {
    return waitEndMillis(waiting) < totalEndMillis(waiting.dueMillis())
        ? "it did not start within " + DurationText.show(Duration.ofMillis(waitMillis))
        : totalReason();
  }

  private long waitEndMillis(Phase.Waiting waiting) {
    return waitMillis == 0
        ? NEVER
        : Math.max(waiting.dueMillis(), waiting.notBeforeMillis()) + waitMillis;
  }

  /**
   * When all attempts together have taken too long; the largest number for never.
   *
   * @param dueMillis when the node was due for the first time; 0 if that is not recorded
   */
  public long totalEndMillis(long dueMillis) {
    return totalMillis == 0 || dueMillis == 0 ? NEVER : dueMillis + totalMillis;
  }

  /** Why a node has failed that took too long in all, for people. */
  public String totalReason() {
    return "it took longer than " + DurationText.show(Duration.ofMillis(totalMillis)) + " in all";
  }
}
