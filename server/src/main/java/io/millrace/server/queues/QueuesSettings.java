package io.millrace.server.queues;

import io.millrace.server.config.Key;
import io.millrace.server.config.Section;
import java.time.Duration;
import java.util.List;

/**
 * The settings of queues.
 *
 * @param lease how long the claim on a task lasts unless its runner renews it
 */
public record QueuesSettings(Duration lease) {
  private static final Key<Duration> LEASE =
      Key.duration(
          "lease",
          Duration.ofSeconds(1),
          Duration.ofHours(24),
          Duration.ofMinutes(5),
          "How long the claim on a queue task lasts unless its runner renews it; after a start of"
              + " the server all run anew for so long.");

  /** The section {@code queues}. */
  public static final Section<QueuesSettings> SECTION =
      new Section<>("queues", List.of(LEASE), values -> new QueuesSettings(values.get(LEASE)));
}
