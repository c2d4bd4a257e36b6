package io.millrace.queues;

import io.millrace.queues.Output.OutputFile;
import io.millrace.queues.QueueTask.Progress;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.QueuesException.LostClaimException;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Run.Started;
import io.millrace.store.Outcome;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Ends a run: deletes its document and moves its task on, in one transaction. */
final class RunEnd {
  private final QueueSession session;

  RunEnd(QueueSession session) {
    this.session = session;
  }

  /**
   * Settles a report.
   *
   * @return the task as it is now; null if something has changed meanwhile
   * @throws LostClaimException if the claim of {@code run} is no longer valid
   */
  @Nullable QueueTask end(Run run, QueueTask task, Report report) {
    Optional<Run> now = session.document(Keys.run(run.task())).map(Run::read);
    if (now.isEmpty()) {
      return null;
    }
    boolean stop = isToStop(run);
    Optional<Queue> queue = session.document(Keys.queue(run.queue())).map(Queue::read);
    int requeues = queue.map(known -> known.settings().requeueOrphans()).orElse(0);
    QueueTask next = settle(task, report, stop ? 0 : requeues, stop, session.nowMillis());
    List<OutputFile> files = next.output().equals(report.output()) ? report.files() : List.of();
    return conclude(run, now.get(), task, next, files);
  }

  /**
   * Settles a report with the state after the start, without reading.
   *
   * @return the task as it is now; null if the state must be read: something has changed in
   *     between, the report was repeated, or the queue's setting about orphans applies
   */
  @Nullable QueueTask endAsStarted(Started started, Report report) {
    if (report.status() == Status.ORPHANED) {
      return null;
    }
    Run run = started.run();
    QueueTask from = started.task();
    QueueTask to = settle(from, report, 0, false, session.nowMillis());
    Transaction transaction = ending(new Last(run, run.version(), false), from, to, report.files());
    // Only reading tells whether the claim is lost or was ended by this report.
    return ended(session.tryCommit(transaction));
  }

  /** Ends {@code now} on behalf of the claim of {@code run}. */
  @Nullable QueueTask conclude(
      Run run, Run now, QueueTask from, QueueTask to, List<OutputFile> files) {
    boolean stop = isToStop(run);
    return ended(
        session.commitFor(run, ending(new Last(run, now.version(), stop), from, to, files)));
  }

  /**
   * The run that ends.
   *
   * @param run the run with the claim for which this acts
   * @param version the version of its document
   * @param stop whether its end was requested
   */
  private record Last(Run run, long version, boolean stop) {}

  private static Transaction ending(
      Last last, QueueTask from, QueueTask to, List<OutputFile> files) {
    Run run = last.run();
    Transaction.Builder transaction = Transaction.by(run.claim().owner());
    QueueTask.move(transaction, from, to);
    transaction.delete(Keys.run(run.task()), last.version());
    // A request to end the task goes with its run, even one that comes just now.
    if (last.stop()) {
      transaction.delete(Keys.stop(run.task()), DocumentVersion.ANY);
    } else {
      transaction.depend(Keys.stop(run.task()), DocumentVersion.ABSENT);
    }
    for (OutputFile file : files) {
      transaction.put(Keys.file(file.id()), DocumentVersion.ANY, OutputFile.write(file));
    }
    if (to.status() != Status.QUEUED) {
      QueueRegistry.ring(transaction, run.queue());
    }
    return transaction.build();
  }

  private static @Nullable QueueTask ended(Outcome.@Nullable Done done) {
    return done == null ? null : QueueTask.read(done.documents().getFirst());
  }

  private boolean isToStop(Run run) {
    return session.document(Keys.stop(run.task())).isPresent();
  }

  /**
   * The task after a report.
   *
   * @param requeues how often its queue queues an orphan again
   * @param stop whether its end was requested: then an orphan is terminated
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
