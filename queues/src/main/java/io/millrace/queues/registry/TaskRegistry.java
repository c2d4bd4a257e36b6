package io.millrace.queues.registry;

import io.millrace.queues.ObjectId;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueuesException.TaskStateException;
import io.millrace.queues.Status;
import io.millrace.queues.TaskAction;
import io.millrace.store.Outcome;
import io.millrace.store.Transaction;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The queue tasks: finds them, and changes them for operators. {@link TaskSubmission} creates them.
 * Safe for use by any number of threads.
 */
public final class TaskRegistry implements QueueBackend.Tasks {
  private final QueueSession session;

  TaskRegistry(QueueSession session) {
    this.session = session;
  }

  /** The collection of the documents of tasks; the key of a document is the id of its task. */
  public static String collection() {
    return Keys.TASKS;
  }

  /** The task with this id. */
  @Override
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
  @Override
  public Optional<QueueTask> hold(ObjectId id, int status, String reason) {
    TaskAction.Hold hold = new TaskAction.Hold(status, reason);
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
          return TaskChanges.next(task, hold, session.nowMillis());
        });
  }

  /**
   * Queues a task again that is held or has finished; its output is deleted.
   *
   * @return the task as it is now; empty if there is none
   * @throws TaskStateException if it is queued, claimed or running
   */
  @Override
  public Optional<QueueTask> requeue(ObjectId id) {
    return change(
        id,
        task -> {
          if (Status.isActive(task.status()) || task.status() == Status.QUEUED) {
            throw new TaskStateException("task " + id + " is " + Status.name(task.status()));
          }
          return TaskChanges.requeued(task, session.nowMillis());
        });
  }

  /**
   * Terminates a task: the runner of a claimed or running task kills its processes and then
   * reports; any other task is held back at once.
   *
   * @return the task as it is now; empty if there is none
   * @throws TaskStateException if it has finished
   */
  @Override
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
    Transaction.Builder transaction = session.begin();
    TaskChanges.askToStop(transaction, task);
    return session.tryCommit(transaction.build()) != null;
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
          TaskTransitions.move(transaction, task, step.next(task));
          Outcome.Done done = session.tryCommit(transaction.build());
          return done == null ? null : QueueTask.read(done.documents().getFirst());
        });
  }
}
