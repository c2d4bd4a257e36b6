package io.millrace.queues;

import io.millrace.queues.QueueTask.Progress;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.QueuesException.TaskStateException;
import io.millrace.store.Bytes;
import io.millrace.store.Outcome;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The queue tasks: finds them, and changes them for operators. {@link TaskSubmission} creates them.
 * Safe for use by any number of threads.
 */
public final class TaskRegistry {
  /** The longest reason of an operator, in characters. */
  private static final int MAX_REASON_CHARS = 1_000;

  private final QueueSession session;

  TaskRegistry(QueueSession session) {
    this.session = session;
  }

  /** The collection of the documents of tasks; the key of a document is the id of its task. */
  public static String collection() {
    return Keys.TASKS;
  }

  /** The task with this id. */
  public Optional<QueueTask> find(ObjectId id) {
    return session.document(Keys.task(id)).map(QueueTask::read);
  }

  /**
   * Passes on all tasks in the order of their ids, page by page.
   *
   * @param look takes a task
   */
  public void each(Consumer<QueueTask> look) {
    session.pages(Keys.TASKS).forEach(document -> look.accept(QueueTask.read(document)));
  }

  /**
   * Holds back a task that is queued or held.
   *
   * @param status the status that holds it: -3 or less, {@link Status#CANCELLED} to cancel it
   * @param reason why, in at most 1,000 characters; empty for no reason
   * @return the task as it is now; empty if there is none
   * @throws TaskStateException if it is claimed or running, or has finished
   */
  public Optional<QueueTask> hold(ObjectId id, int status, String reason) {
    if (!Status.isHeld(status)) {
      throw new InvalidRequestException("status", "a task is held by -3 or less, not " + status);
    }
    if (reason.length() > MAX_REASON_CHARS) {
      throw new InvalidRequestException(
          "reason", "a reason has at most " + MAX_REASON_CHARS + " characters");
    }
    return change(
        id,
        task -> {
          if (Status.isActive(task.status())) {
            throw new TaskStateException(
                "task " + id + " is " + Status.name(task.status()) + "; terminate it instead");
          }
          if (Status.isFinished(task.status())) {
            throw new TaskStateException("task " + id + " has finished");
          }
          String why = reason.isEmpty() ? null : reason;
          return task.with(task.progress().to(status, session.nowMillis(), why));
        });
  }

  /**
   * Queues a task again that is held or has finished; its output is deleted.
   *
   * @return the task as it is now; empty if there is none
   * @throws TaskStateException if it is queued, claimed or running
   */
  public Optional<QueueTask> requeue(ObjectId id) {
    return change(
        id,
        task -> {
          if (Status.isActive(task.status()) || task.status() == Status.QUEUED) {
            throw new TaskStateException("task " + id + " is " + Status.name(task.status()));
          }
          Progress first = Progress.first(Status.QUEUED, session.nowMillis());
          Progress again =
              first
                  .with(task.progress().hold())
                  .with(task.progress().deadlines().restarted(first.mtimeMillis()));
          return task.with(again).with(TaskOutput.NONE);
        });
  }

  /**
   * Terminates a task: the runner of a claimed or running task kills its processes and then
   * reports; any other task is held back at once.
   *
   * @return the task as it is now; empty if there is none
   * @throws TaskStateException if it has finished
   */
  public Optional<QueueTask> terminate(ObjectId id) {
    return session.retry(
        "task " + id,
        () -> find(id),
        task -> {
          if (Status.isActive(task.status())) {
            return askToStop(task) ? task : null;
          }
          return hold(id, Status.TERMINATED, "terminated before it ran").orElse(null);
        });
  }

  private boolean askToStop(QueueTask task) {
    Transaction transaction =
        session
            .begin()
            .depend(Keys.task(task.id()), task.place().version())
            .put(Keys.stop(task.id()), DocumentVersion.ANY, Bytes.of("terminate"))
            .build();
    return session.tryCommit(transaction) != null;
  }

  /** What to make of a task. */
  private interface Step {
    QueueTask next(QueueTask task);
  }

  private Optional<QueueTask> change(ObjectId id, Step step) {
    return session.retry(
        "task " + id,
        () -> find(id),
        task -> {
          Transaction.Builder transaction = session.begin();
          QueueTask.move(transaction, task, step.next(task));
          Outcome.Done done = session.tryCommit(transaction.build());
          return done == null ? null : QueueTask.read(done.documents().getFirst());
        });
  }
}
