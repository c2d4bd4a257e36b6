package io.millrace.jobs;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A change of one job.
 *
 * @param id of the job
 * @param present the job as it is after the change; null if it was deleted
 */
public record JobChange(JobId id, @Nullable Job present) {
  /** The job as it is after the change; empty if it was deleted. */
  public Optional<Job> job() {
    return Optional.ofNullable(present);
  }
}
