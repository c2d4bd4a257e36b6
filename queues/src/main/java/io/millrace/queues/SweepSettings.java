package io.millrace.queues;

import java.time.Duration;

/**
 * How a {@link Sweeper} works.
 *
 * @param interval how often it looks; default 1 s
 * @param keepFinished how long a finished task stays in the store, where it can be searched, before
 *     it moves to the archive; default 30 days
 */
public record SweepSettings(Duration interval, Duration keepFinished) {
  /** The defaults. */
  public static final SweepSettings DEFAULTS =
      new SweepSettings(Duration.ofSeconds(1), Duration.ofDays(30));

  /**
   * Checks the durations.
   *
   * @throws InvalidRequestException when one is not positive
   */
  public SweepSettings {
    if (!interval.isPositive() || !keepFinished.isPositive()) {
      throw new InvalidRequestException("", "the durations of a sweeper are positive");
    }
  }
}
