package io.millrace.queues.registry;

import io.millrace.queues.NodeRecord;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output.OutputRecovery;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.Progress;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.QueuesException.LostClaimException;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Run.Started;
import io.millrace.queues.Status;
import io.millrace.store.Outcome;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claimed and running tasks, for nodes and runners. Safe for use by any number of threads.
 *
 * <p>Each run has a claim with a client id of its own; if the claim is lost, the methods throw
 * {@link LostClaimException} and change nothing. Every step may be repeated after its answer was
 * lost.
 */
public final class RunRegistry implements QueueBackend.Runs {
  /**
   * How long a claim lasts that was never recorded, because its node ended in between or did not
   * get the answer. Its end is not announced by a bell.
   */
  public static final Duration UNTIL_RECORDED = Duration.ofSeconds(10);

  /** Named as in the documentation of logs, by which users set levels. */
  private static final Logger LOG = LoggerFactory.getLogger("io.millrace.queues.RunRegistry");

  private static final int PAGE = 1_000;

  private final QueueSession session;
  private final RunEnd endings;

  RunRegistry(QueueSession session) {
    this.session = session;
    this.endings = new RunEnd(session);
  }

  /**
   * Claims up to {@code most} tasks of a queue for a node, within the queue's limit, which is
   * checked in the same step.
   *
   * <p>A task whose claim expired without a report is not claimed again, but orphaned.
   *
   * @param lease how long the claims last unless they are renewed
   * @param recovery finds the output of such a task
   * @return the runs, claimed and recorded; none if no task is waiting, the limit is reached, or
   *     the definition of the queue or node has changed
   */
  @Override
  public List<Run> claim(
      NodeRecord node, Queue queue, int most, Duration lease, OutputRecovery recovery) {
    return new Claiming(session, node, queue, lease, recovery).claim(most);
  }

  @Override
  public Optional<AwaitedRun> await(
      NodeRecord node, Queue queue, Duration lease, OutputRecovery recovery, Runnable whenDone) {
    boolean shares =
        !queue.settings().policy().isEmpty()
            && !queue.settings().policy().throttling().shared().isEmpty();
    return shares
        ? Optional.of(new Claiming(session, node, queue, lease, recovery).await(whenDone))
        : Optional.empty();
  }

  /** The same without output of tasks that were lost. */
  public List<Run> claim(NodeRecord node, Queue queue, int most, Duration lease) {
    return claim(node, queue, most, lease, OutputRecovery.NOTHING);
  }

  /** All runs, by task. */
  public List<Run> all() {
    return session.all(Keys.RUNS).stream().map(Run::read).toList();
  }

  @Override
  public List<Run> ofNode(String node) {
    return all().stream().filter(run -> run.node().equals(node)).toList();
  }

  /** The run of this task, if it is claimed or running. */
  @Override
  public Optional<Run> find(ObjectId task) {
    return session.document(Keys.run(task)).map(Run::read);
  }

  /** Whether the end of this task was requested. */
  @Override
  public boolean isToStop(ObjectId task) {
    return session.document(Keys.stop(task)).isPresent();
  }

  /**
   * Moves a task from claimed to running, or finds that this runner has done so before. Usually the
   * run and its task are as the node has handed them over; they are read if an answer was lost, or
   * something has changed in between.
   *
   * @param run the run as it was claimed
   * @param runner the identity of the process that runs it
   * @throws LostClaimException if the run no longer has this claim
   */
  @Override
  public Started begin(Run run, String runner, Duration lease) {
    Run.TaskDocument claimed = run.document();
    QueueTask task = claimed == null ? session.taskOf(run) : claimed.read(run.task());
    Started usual = commitStart(run, task, runner, lease);
    return usual != null
        ? usual
        : session.retry("task " + run.task(), () -> look(run, runner, lease));
  }

  private @Nullable Started look(Run run, String runner, Duration lease) {
    Run now = session.own(run);
    QueueTask task = session.taskOf(run);
    if (now.status() != Status.RUNNING) {
      return commitStart(now, task, runner, lease);
    }
    if (!runner.equals(now.runner())) {
      throw new LostClaimException("task " + run.task() + " was started by another runner");
    }
    // The lease counts from this answer, not from the one that was lost.
    Transaction renewal =
        Transaction.by(run.claim().owner()).renew(run.claim().ref(), lease).build();
    return session.commitFor(run, renewal) == null ? null : new Started(now, task);
  }

  private @Nullable Started commitStart(Run now, QueueTask task, String runner, Duration lease) {
    long millis = session.nowMillis();
    Run next =
        new Run(
            now.task(),
            now.queue(),
            now.node(),
            now.claim(),
            Status.RUNNING,
            runner,
            millis,
            0,
            task.progress().deadlines().attemptMillis(now.timeoutMillis(), millis),
            null);
    Transaction.Builder transaction = Transaction.by(now.claim().owner());
    QueueTask running =
        TaskTransitions.released(
            transaction,
            task.with(task.progress().on(now.node(), Status.RUNNING, next.sinceMillis()))
                .with(TaskOutput.NONE));
    transaction
        .renew(now.claim().ref(), lease)
        .put(Keys.task(now.task()), task.place().version(), QueueTask.write(running, null))
        .put(Keys.run(now.task()), now.version(), Run.write(next));
    TaskTransitions.watch(transaction, TaskTransitions.deadlineMillis(task), running);
    // What is left of an attempt that failed.
    TaskTransitions.forget(transaction, task.output(), TaskOutput.NONE);
    Outcome.Done done = session.commitFor(now, transaction.build());
    return done == null
        ? null
        : new Started(
            next.at(done.documents().get(1).version()),
            running.at(done.documents().get(0).version()));
  }

  /** The same without the task. */
  public Run start(Run run, String runner, Duration lease) {
    return begin(run, runner, lease).run();
  }

  /**
   * Extends the claim of a run.
   *
   * @throws LostClaimException if the run no longer has this claim
   */
  @Override
  public void renew(Run run, Duration lease) {
    Transaction transaction =
        Transaction.by(run.claim().owner()).renew(run.claim().ref(), lease).build();
    if (session.commitFor(run, transaction) == null) {
      throw QueueSession.lost(run);
    }
  }

  /**
   * Stores the end of a run: status, output and times in one commit. A report of {@link
   * Status#ORPHANED} follows the queue's setting about orphans, one of {@link Status#FAILED} the
   * settings about retries.
   *
   * @return the task as it is now
   * @throws LostClaimException if the run no longer has this claim
   */
  public QueueTask finish(Run run, Report report) {
    return session.retry(
        "task " + run.task(),
        () -> {
          Optional<QueueTask> ended = alreadyEnded(run, report);
          if (ended.isPresent()) {
            return ended.get();
          }
          session.own(run);
          return endings.end(run, session.taskOf(run), report);
        });
  }

  /**
   * The same without reading first, if nothing has changed between start and end.
   *
   * @return the task as it is now
   * @throws LostClaimException if the run no longer has this claim
   */
  @Override
  public QueueTask finish(Started started, Report report) {
    QueueTask ended = endings.endAsStarted(started, report);
    return ended == null ? finish(started.run(), report) : ended;
  }

  /** The task after a report that was stored before; empty if it was not. */
  private Optional<QueueTask> alreadyEnded(Run run, Report report) {
    return session.document(Keys.run(run.task())).isPresent()
        ? Optional.empty()
        : session
            .document(Keys.task(run.task()))
            .map(QueueTask::read)
            .filter(task ->
                task.progress().retries().token() == run.claim().token()
                    || (task.status() == report.status() && task.output().equals(report.output())));
  }

  /**
   * Gives back a claimed task that no runner has started; it keeps its place in the order.
   *
   * @return whether it was given back; false if it was started or has another claim
   */
  @Override
  public boolean giveBack(Run run) {
    return session.retry(
        "task " + run.task(),
        () -> {
          Optional<Run> now = find(run.task()).filter(other -> other.claim().equals(run.claim()));
          if (now.isEmpty() || now.get().status() != Status.CLAIMED) {
            return false;
          }
          QueueTask task = session.taskOf(run);
          Progress progress = task.progress();
          QueueTask queued =
              task.with(
                  progress.queued(
                      session.nowMillis(), null, progress.orphaned(), progress.retries().at(0)));
          return endings.conclude(run, now.get(), task, queued, List.of()) == null ? null : true;
        });
  }

  /**
   * Runs whose claim has ended without a report.
   *
   * <p>Their work has stopped: a runner stops it before its lease ends.
   */
  public List<Run> lapsed() {
    List<Run> runs = all();
    List<TaskRef> refs = runs.stream().map(run -> run.claim().ref()).toList();
    List<Run> lapsed = new ArrayList<>();
    for (int from = 0; from < refs.size(); from += PAGE) {
      int to = Math.min(refs.size(), from + PAGE);
      var read = session.store().tasks(refs.subList(from, to));
      for (int i = from; i < to; i++) {
        Run run = runs.get(i);
        boolean alive =
            read.value()
                .get(i - from)
                .filter(task -> task.token() == run.claim().token())
                .filter(task -> task.stateAt(read.timeMillis()) == Task.State.CLAIMED)
                .isPresent();
        if (!alive) {
          lapsed.add(run);
        }
      }
    }
    return lapsed;
  }

  /**
   * Ends a run whose work was disrupted: its task becomes orphaned, or is queued again if its queue
   * allows it, or becomes terminated if that was requested. The log says which.
   *
   * @return the task as it is now; empty if the run has ended otherwise meanwhile
   */
  @Override
  public Optional<QueueTask> orphan(Run run, Report report) {
    QueueTask task;
    try {
      task = finish(run, report);
    } catch (LostClaimException _) {
      return Optional.empty();
    }
    switch (task.status()) {
      case Status.TERMINATED ->
          LOG.info("task {} is terminated, as was asked: {}", task.id(), report.reason());
      case Status.QUEUED ->
          LOG.warn("task {} was orphaned and is queued again: {}", task.id(), report.reason());
      default ->
          LOG.warn("task {} is {}: {}", task.id(), Status.name(task.status()), report.reason());
    }
    return Optional.of(task);
  }

  /**
   * Extends the claims of all runs, including expired ones, to {@code lease} from now: for a server
   * that has just started, before anybody can claim. Runners stop their work by their own clocks,
   * so a slot is free only after that time.
   */
  public void reviveAll(Duration lease) {
    for (Run run : all()) {
      Transaction transaction =
          Transaction.by(run.claim().owner()).revive(run.claim().ref(), lease).build();
      session.tryCommit(transaction);
    }
  }
}
