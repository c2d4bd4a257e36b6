package io.millrace.queues;

import org.jspecify.annotations.Nullable;

/** What becomes of a task whose run has ended. */
final class Orphans {
  private Orphans() {}

  /**
   * The task after a report.
   *
   * @param requeues how often its queue queues an orphan again
   * @param stop whether somebody had asked for its end: an orphan is terminated then
   */
  static QueueTask settle(
      QueueTask task, Report report, int requeues, boolean stop, long nowMillis) {
    Progress progress = task.progress();
    int status = report.status();
    @Nullable String reason = report.reason();
    if (status == Status.ORPHANED && stop) {
      status = Status.TERMINATED;
    }
    if (status == Status.ORPHANED && progress.orphaned() < requeues) {
      Progress again =
          new Progress(Status.QUEUED, null, nowMillis, reason, progress.orphaned() + 1);
      return task.with(again).with(TaskOutput.NONE);
    }
    return task.with(progress.to(status, nowMillis, reason)).with(report.output());
  }
}
