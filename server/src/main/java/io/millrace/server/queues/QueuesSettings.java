package io.millrace.server.queues;

import io.millrace.queues.registry.Sweeper;
import io.millrace.server.config.Configuration.Section;
import io.millrace.server.config.Key;
import io.millrace.server.config.SectionKeys;
import io.millrace.work.policy.Retention;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The settings of queues.
 *
 * @param lease how long the claims of claimed and running tasks last after a start of the server
 * @param sweep the settings of the sweeper
 * @param retention how long finished tasks stay in the store
 */
public record QueuesSettings(Duration lease, Sweeper.Settings sweep, Retention retention) {
  private static final SectionKeys KEYS = new SectionKeys();
  private static final Key<Duration> LEASE =
      KEYS.duration(
          "lease",
          Duration.ofMinutes(5),
          Duration.ofHours(24),
          Duration.ofMinutes(5),
          "How long claims on queue tasks last after a start of the server unless their runners"
              + " renew them; not less than the five minutes that nodes ask for.");
  private static final Key<Duration> SWEEP_INTERVAL =
      KEYS.duration(
          "sweep-interval",
          Duration.ofMillis(10),
          Duration.ofHours(1),
          Sweeper.Settings.DEFAULTS.interval(),
          "How often the server looks for tasks whose claim ran out, and for old ones.");
  private static final Key<Duration> KEEP_FINISHED =
      KEYS.duration(
          "keep-finished",
          Duration.ofMillis(1),
          Duration.ofHours(1_000_000),
          Duration.ofDays(30),
          "How long a finished task stays in the store, where it can be searched, before it moves"
              + " to the archive. A queue may have its own: `keep_finished`, see"
              + " [archive.md](archive.md).");
  private static final Key<@Nullable Long> KEEP_COUNT =
      KEYS.optionalNumber(
          "keep-count",
          0,
          Retention.MAX_COUNT,
          "all",
          "How many finished tasks of each queue stay in the store: those that finished last. A"
              + " queue may have its own: `keep_count`.");

  /** The section {@code queues}. */
  public static final Section<QueuesSettings> SECTION =
      KEYS.section(
          "queues",
          values ->
              new QueuesSettings(
                  values.get(LEASE),
                  new Sweeper.Settings(values.get(SWEEP_INTERVAL)),
                  new Retention(values.get(KEEP_FINISHED), values.get(KEEP_COUNT))));
}
