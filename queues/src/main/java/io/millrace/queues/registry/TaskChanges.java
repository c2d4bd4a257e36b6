package io.millrace.queues.registry;

import io.millrace.queues.Json;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.Hold;
import io.millrace.queues.QueueTask.Progress;
import io.millrace.queues.QueueTask.Retries;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.Status;
import io.millrace.queues.TaskAction;
import io.millrace.store.Bytes;
import io.millrace.store.Outcome;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.policy.EndedAttempt;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Changes many queue tasks in one transaction. Safe for use by any number of threads. */
public final class TaskChanges {
  private final QueueSession session;
  private final TaskSubmission submission;

  TaskChanges(QueueSession session, TaskSubmission submission) {
    this.session = session;
    this.submission = submission;
  }

  /** Commits changes together with something else. */
  @FunctionalInterface
  public interface Joint {
    /**
     * Adds to the transaction, and commits it.
     *
     * @param skipped the tasks that are not changed by it, with the reasons
     * @return null if something has changed in between, and nothing was committed
     */
    Outcome.@Nullable Done commit(Transaction.Builder transaction, Map<ObjectId, String> skipped);
  }

  /** A queued task as an action leaves it, or one that is held back. */
  static QueueTask next(QueueTask task, TaskAction.Hold hold, long nowMillis) {
    String why = hold.reason().isEmpty() ? null : hold.reason();
    return task.with(task.progress().to(hold.status(), nowMillis, why));
  }

  /** A task that is queued again. */
  static QueueTask requeued(QueueTask task, long nowMillis) {
    Progress before = task.progress();
    Progress again =
        Progress.first(Status.QUEUED, nowMillis)
            .with(Retries.NONE.with(history(before)))
            .with(before.hold())
            .with(before.deadlines().restarted(nowMillis));
    return task.with(again).with(TaskOutput.NONE);
  }

  /** The attempts that have ended, with one that has finished. */
  private static List<EndedAttempt> history(Progress progress) {
    Retries retries = progress.retries();
    if (!Status.isFinished(progress.status()) || progress.status() == Status.FAILED) {
      return retries.ended();
    }
    String end = progress.status() == Status.SUCCEEDED ? "succeeded" : "finished";
    return new EndedAttempt(
            progress.node(),
            retries.startedMillis(),
            progress.mtimeMillis(),
            end,
            null,
            progress.reason(),
            null)
        .after(retries.ended());
  }

  /** Asks the runner of a task to end it. */
  static void askToStop(Transaction.Builder transaction, QueueTask task) {
    transaction
        .depend(Keys.task(task.id()), task.place().version())
        .put(Keys.stop(task.id()), DocumentVersion.ANY, Bytes.of("terminate"));
  }

  /**
   * Performs an action on tasks to which it applies. The transaction names the versions of all of
   * them.
   *
   * @param joint called once
   * @return null if something has changed in between, and nothing was committed
   */
  public Outcome.@Nullable Done apply(TaskAction action, List<QueueTask> tasks, Joint joint) {
    Batch batch = new Batch(session.begin(), session.nowMillis());
    tasks.forEach(task -> batch.add(action, task));
    return batch.commit(joint);
  }

  /** One transaction. */
  private final class Batch {
    private final Transaction.Builder transaction;
    private final long nowMillis;

    /** The delays of queued tasks by their queues; zero is not among them. */
    private final Map<ObjectId, Set<Duration>> bells = new HashMap<>();

    /** The queues to which tasks are moved. */
    private final Set<ObjectId> entered = new HashSet<>();

    private final Set<String> takenKeys = new HashSet<>();
    private final Map<ObjectId, String> skipped = new LinkedHashMap<>();

    Batch(Transaction.Builder transaction, long nowMillis) {
      this.transaction = transaction;
      this.nowMillis = nowMillis;
    }

    void add(TaskAction action, QueueTask task) {
      switch (action) {
        case TaskAction.Hold hold -> replace(task, next(task, hold, nowMillis));
        case TaskAction.Requeue _ -> replace(task, requeued(task, nowMillis));
        case TaskAction.Terminate _ when Status.isActive(task.status()) ->
            askToStop(transaction, task);
        case TaskAction.Terminate _ ->
            replace(
                task,
                next(
                    task,
                    new TaskAction.Hold(Status.TERMINATED, "terminated before it ran"),
                    nowMillis));
        case TaskAction.Delete _ -> TaskTransitions.delete(transaction, task);
        case TaskAction.Move(ObjectId queue) -> move(task, queue);
      }
    }

    private void replace(QueueTask task, QueueTask next) {
      QueueTask to = TaskTransitions.replace(transaction, task, next);
      if (to.status() == Status.QUEUED) {
        Set<Duration> delays = bells.computeIfAbsent(to.queue(), _ -> new TreeSet<>());
        Duration delay = to.progress().delay();
        if (!delay.isZero()) {
          delays.add(delay);
        }
      }
    }

    private void move(QueueTask task, ObjectId queue) {
      try {
        session
            .document(Keys.queue(queue))
            .map(Queue::read)
            .ifPresent(to -> submission.checkKnown(to, List.of(task.params()), task.policy()));
      } catch (InvalidRequestException e) {
        skipped.put(task.id(), String.valueOf(e.getMessage()));
        return;
      }
      Hold hold = task.progress().hold();
      if (hold != null) {
        boolean taken =
            !takenKeys.add(hold.hash())
                || session.document(Keys.unique(queue, hold.hash())).isPresent();
        if (taken) {
          skipped.put(task.id(), "its unique key is taken in the other queue");
          return;
        }
        transaction.delete(Keys.unique(task.queue(), hold.hash()), DocumentVersion.ANY);
        transaction.put(
            Keys.unique(queue, hold.hash()),
            DocumentVersion.ABSENT,
            Json.write(Json.object().put("task", task.id().hex())));
      }
      if (entered.add(queue)) {
        transaction.depend(Keys.queue(queue), DocumentVersion.ANY);
      }
      // The delay counts from the last change.
      replace(task, task.in(queue).with(task.progress().changedAt(nowMillis)));
    }

    Outcome.@Nullable Done commit(Joint joint) {
      bells.forEach((queue, delays) -> QueueRegistry.ring(transaction, queue, delays));
      return joint.commit(transaction, skipped);
    }
  }
}
