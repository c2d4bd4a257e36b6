package io.millrace.queues.registry;

import io.millrace.queues.Output.OutputFile;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.Progress;
import io.millrace.queues.QueueTask.Retries;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.QueuesException.LostClaimException;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Run.RetryWish;
import io.millrace.queues.Run.Started;
import io.millrace.queues.Status;
import io.millrace.store.Outcome;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.environment.DurationText;
import io.millrace.work.policy.EndedAttempt;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.RetryPolicy;
import io.millrace.work.policy.RetryPolicy.Failed;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
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
    QueueTask next =
        new Settlement(task, report, run.claim(), rules(run, stop), session.nowMillis()).next();
    List<OutputFile> files = next.output().equals(report.output()) ? report.files() : List.of();
    return conclude(run, now.get(), task, next, files);
  }

  /**
   * Settles a report with the state after the start, without reading it.
   *
   * <p>Only for a failure the settings of the queue are read.
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
    boolean fails = report.status() == Status.FAILED || report.wish() instanceof RetryWish.Snooze;
    Rules rules = fails ? rules(run, false) : Rules.NONE;
    QueueTask to = new Settlement(from, report, run.claim(), rules, session.nowMillis()).next();
    Transaction transaction = ending(new Last(run, run.version(), false), from, to, report.files());
    // Only reading tells whether the claim is lost or was ended by this report.
    return ended(session.tryCommit(transaction));
  }

  /**
   * What applies to the end of a run.
   *
   * @param stop whether its end was requested: then an orphan is terminated, and nothing is tried
   *     again
   * @param settings the settings of its queue
   * @param seed of the pause before the next attempt
   */
  private record Rules(boolean stop, Queue.Settings settings, long seed) {
    /** For an end to which no settings apply. */
    static final Rules NONE = new Rules(false, Queue.Settings.DEFAULTS, 0);
  }

  private Rules rules(Run run, boolean stop) {
    Queue.Settings settings =
        session
            .document(Keys.queue(run.queue()))
            .map(queue -> Queue.read(queue).settings())
            .orElse(Queue.Settings.DEFAULTS);
    return new Rules(stop, settings, session.seed());
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
    TaskTransitions.move(transaction, from, to);
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

  /** What a report makes of a task. */
  private record Settlement(
      QueueTask task, Report report, Run.Claim claim, Rules rules, long nowMillis) {

    QueueTask next() {
      Progress progress = task.progress();
      boolean orphaned = report.status() == Status.ORPHANED;
      if (orphaned && rules.stop()) {
        return ended(Status.TERMINATED, remembered("terminated"), report.reason());
      }
      if (orphaned && progress.orphaned() < rules.settings().requeueOrphans()) {
        Progress again =
            progress.queued(
                nowMillis, report.reason(), progress.orphaned() + 1, remembered("orphaned").at(0));
        return task.with(again.waiting()).with(TaskOutput.NONE);
      }
      Optional<String> overTime = task.progress().deadlines().exceeded(false, nowMillis);
      if (report.status() == Status.FAILED && !rules.stop() && overTime.isPresent()) {
        return overTime(overTime.get());
      }
      Policy policy = task.policy().over(rules.settings().policy());
      return switch (report.wish()) {
        case RetryWish.Snooze(Duration delay) when !orphaned && !rules.stop() ->
            snoozed(policy.retries(), delay);
        case RetryWish.IfFailed(Failed failed)
            when report.status() == Status.FAILED && !policy.isEmpty() ->
            failed(policy.retries(), failed);
        default -> ended(report.status(), asReported(), report.reason());
      };
    }

    /** The attempts with this one, unless it has finished. */
    private Retries asReported() {
      return switch (report.status()) {
        case Status.FAILED -> remembered("failed");
        case Status.TERMINATED -> remembered("terminated");
        case Status.ORPHANED -> remembered("orphaned");
        default -> task.progress().retries();
      };
    }

    /** The attempts with this one, which ended so. */
    private Retries remembered(String end) {
      Progress progress = task.progress();
      String code =
          report.wish() instanceof RetryWish.IfFailed(Failed failed) ? failed.code() : null;
      Retries retries = progress.retries();
      EndedAttempt attempt =
          new EndedAttempt(
              progress.node(),
              retries.startedMillis(),
              nowMillis,
              end,
              code,
              report.reason(),
              report.log());
      return retries.with(attempt.after(retries.ended()));
    }

    /** Failed for good, since the task as a whole is over time. */
    private QueueTask overTime(String limit) {
      boolean cut =
          report.reason() == null
              || (report.wish() instanceof RetryWish.IfFailed(Failed(String code, Duration _))
                  && Run.TIMEOUT_CODE.equals(code));
      return ended(
          Status.FAILED,
          counted("failed", 1, 0, Duration.ZERO),
          cut ? limit : report.reason() + "; " + limit);
    }

    private QueueTask failed(RetryPolicy policy, Failed failed) {
      int failures = task.progress().retries().failed() + 1;
      Optional<Duration> pause =
          rules.stop()
              ? Optional.empty()
              : policy.retry(failures, failed, new SplittableRandom(rules.seed()));
      Retries retries = counted("failed", 1, 0, pause.orElse(Duration.ZERO));
      if (pause.isEmpty()) {
        return ended(report.status(), retries, report.reason());
      }
      String reason = "attempt %d of %d failed".formatted(failures, policy.attempts());
      return queued(retries, report.reason() == null ? reason : reason + ": " + report.reason());
    }

    private QueueTask snoozed(RetryPolicy policy, Duration delay) {
      if (!policy.maySnooze(task.progress().retries().snoozed())) {
        return ended(
            Status.FAILED,
            counted("failed", 1, 0, Duration.ZERO),
            "it snoozed more than " + policy.snoozes() + " times");
      }
      Duration pause = RetryPolicy.capped(delay);
      return queued(counted("snoozed", 0, 1, pause), "it snoozed for " + DurationText.show(pause));
    }

    /** The attempts with this one, which counts as so many failures and snoozes. */
    private Retries counted(String end, int failures, int snoozes, Duration pause) {
      Retries now = remembered(end);
      return new Retries(
          now.failed() + failures,
          now.snoozed() + snoozes,
          pause.isZero() ? 0 : nowMillis + pause.toMillis(),
          claim.token(),
          now.startedMillis(),
          now.ended());
    }

    /** Queued again. The output of the attempt stays until the next one starts. */
    private QueueTask queued(Retries retries, String reason) {
      Progress again =
          task.progress().queued(nowMillis, reason, task.progress().orphaned(), retries);
      return task.with(again.waiting()).with(report.output());
    }

    private QueueTask ended(int status, Retries retries, @Nullable String reason) {
      Progress end = task.progress().with(retries).to(status, nowMillis, reason);
      return task.with(end).with(report.output());
    }
  }
}
