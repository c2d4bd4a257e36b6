package io.millrace.queues;

import io.millrace.blobs.BlobStore;
import java.util.List;

/**
 * Finds what a runner had stored of its task's output before it was lost. Safe for use by any
 * number of threads.
 */
public interface Salvage {
  /** Looks for nothing. */
  Salvage NOTHING = (_, reason) -> new Report(Status.ORPHANED, TaskOutput.NONE, List.of(), reason);

  /** For runs of {@code queues}, whose output is stored in {@code blobs}. */
  static Salvage from(BlobStore blobs, Queues queues) {
    return new ChunkSalvage(blobs, queues::newId);
  }

  /**
   * The report on a run that was disrupted, with the output that there is. Where that cannot be
   * looked for, the report is without it: the end of a task never waits for its output.
   *
   * @param run as it is on record, with the claim that it was lost with
   */
  Report report(Run run, String reason);
}
