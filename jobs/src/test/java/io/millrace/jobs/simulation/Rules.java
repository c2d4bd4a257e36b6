package io.millrace.jobs.simulation;

import java.util.List;
import java.util.Set;

/**
 * Settings of a submission, as text for the registry and as numbers for the model.
 *
 * @param text the settings as a user writes them; empty for none
 * @param attempts the most attempts
 * @param pauses the pauses before retries, in milliseconds; the last one is repeated, and longer by
 *     the factor each time if it is the only one
 * @param factor by how much each pause is longer
 * @param longest the longest pause, in milliseconds
 * @param jitter by which part a pause varies
 * @param fatal the codes of failures that are not retried
 * @param snoozes how often it may be put off
 * @param timeouts for an attempt, for waiting, and for the whole, in milliseconds; 0 for none
 */
record Rules(
    String text,
    int attempts,
    List<Long> pauses,
    double factor,
    long longest,
    double jitter,
    Set<String> fatal,
    int snoozes,
    Timeouts timeouts) {
  record Timeouts(long attempt, long waiting, long whole) {
    static final Timeouts NONE = new Timeouts(0, 0, 0);
  }

  static final int SNOOZES = 1_000;

  static final List<Rules> ALL =
      List.of(
          new Rules("", 3, List.of(0L), 1, 0, 0, Set.of(), SNOOZES, Timeouts.NONE),
          new Rules(
              "attempts=4 retry_delay=1s retry_factor=3 retry_max_delay=5s retry_jitter=0.5"
                  + " retry_except=fatal,timeout snoozes=2",
              4,
              List.of(1_000L),
              3,
              5_000,
              0.5,
              Set.of("fatal", "timeout"),
              2,
              Timeouts.NONE),
          new Rules(
              "attempts=3 retry_delay=2s,4s retry_jitter=0 retry_except=odd snoozes=0 timeout=8s",
              3,
              List.of(2_000L, 4_000L),
              1,
              3_600_000,
              0,
              Set.of("odd"),
              0,
              new Timeouts(8_000, 0, 0)),
          new Rules(
              "attempts=9 retry_delay=500ms retry_factor=1 retry_jitter=0.1 wait_timeout=6s"
                  + " total_timeout=50s",
              9,
              List.of(500L),
              1,
              3_600_000,
              0.1,
              Set.of(),
              SNOOZES,
              new Timeouts(0, 6_000, 50_000)));

  /** Whether such a pause, in milliseconds, may follow this many failures. */
  boolean allows(long pause, int failures) {
    double exact =
        pauses.size() > 1
            ? (double) pauses.get(Math.min(failures, pauses.size()) - 1)
            : pauses.getFirst() * Math.pow(factor, failures - 1.0);
    double most = Math.min(exact, (double) longest);
    return pause >= most * (1 - jitter) - 1
        && pause <= Math.min(most * (1 + jitter), (double) longest) + 1;
  }
}
