package io.millrace.server.queues;

import io.millrace.queues.SweepSettings;
import io.millrace.server.config.Key;
import io.millrace.server.config.Section;
import java.time.Duration;
import java.util.List;

/**
 * The settings of queues.
 *
 * @param lease how long the claim on a task lasts unless its runner renews it
 * @param sweep how orphans and old tasks are found
 */
public record QueuesSettings(Duration lease, SweepSettings sweep) {
  private static final Key<Duration> LEASE =
      Key.duration(
          "lease",
          Duration.ofSeconds(1),
          Duration.ofHours(24),
          Duration.ofMinutes(5),
          "How long the claim on a queue task lasts unless its runner renews it; after a start of"
              + " the server all run anew for so long.");
  private static final Key<Duration> SWEEP_INTERVAL =
      Key.duration(
          "sweep-interval",
          Duration.ofMillis(10),
          Duration.ofHours(1),
          SweepSettings.DEFAULTS.interval(),
          "How often the server looks for tasks whose claim ran out, and for old ones.");
  private static final Key<Duration> KEEP_FINISHED =
      Key.duration(
          "keep-finished",
          Duration.ofMillis(1),
          Duration.ofHours(1_000_000),
          SweepSettings.DEFAULTS.keepFinished(),
          "How long a finished task stays in the store, where it can be searched, before it moves"
              + " to the archive.");

  /** The section {@code queues}. */
  public static final Section<QueuesSettings> SECTION =
      new Section<>(
          "queues",
          List.of(LEASE, SWEEP_INTERVAL, KEEP_FINISHED),
          values ->
              new QueuesSettings(
                  values.get(LEASE),
                  new SweepSettings(values.get(SWEEP_INTERVAL), values.get(KEEP_FINISHED))));
}
