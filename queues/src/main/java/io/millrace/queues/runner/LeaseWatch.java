package io.millrace.queues.runner;

import java.time.Duration;

/**
 * For how long a node may believe that a runner that says nothing ends its work before its claim
 * does. Times are those of one monotonic clock. Not for use by several threads at a time.
 */
final class LeaseWatch {
  private static final Duration LONGEST_MARGIN = Duration.ofMillis(2_500);

  private long untilNanos;
  private boolean bound;

  /** It was told, or has said, that its claim lasts for {@code left} from now on. */
  void begin(Duration left, long nowNanos) {
    Duration margin = left.dividedBy(20);
    if (margin.compareTo(LONGEST_MARGIN) > 0) {
      margin = LONGEST_MARGIN;
    }
    untilNanos = nowNanos + left.minus(margin).toNanos();
    bound = true;
  }

  /** Nothing of its work is left. */
  void end() {
    bound = false;
  }

  /** Whether it should have said something before. */
  boolean isOver(long nowNanos) {
    return bound && nowNanos - untilNanos >= 0;
  }
}
