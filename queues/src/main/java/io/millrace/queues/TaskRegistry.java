package io.millrace.queues;

import io.millrace.store.Bytes;
import io.millrace.store.Outcome;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import tools.jackson.databind.node.ObjectNode;

/** The queue tasks, for those who submit and operate. Safe for use by any number of threads. */
public final class TaskRegistry {
  /** The most characters of the reason of an operator. */
  private static final int MOST_REASON_CHARS = 1_000;

  private final QueueSession session;

  TaskRegistry(QueueSession session) {
    this.session = session;
  }

  /**
   * Creates a task for each of {@code params}, in transactions of a few thousand.
   *
   * @param status {@link Status#QUEUED}, or a status that holds them back
   * @return their ids in the order given
   * @throws InvalidRequestException when there is no such queue, the status is none of those, or
   *     the store would not take one; what was created before stays
   */
  public List<ObjectId> submit(Queue queue, List<ObjectNode> params, int status) {
    List<ObjectId> created = new ArrayList<>(params.size());
    submit(queue, params, status, created::addAll);
    return created;
  }

  /**
   * The same, telling the ids of each transaction as soon as it is done.
   *
   * @param created gets the next ids, in the order given
   * @throws InvalidRequestException when there is no such queue, the status is none of those, or
   *     the store would not take one; what was told as created stays
   */
  public void submit(
      Queue queue, List<ObjectNode> params, int status, Consumer<List<ObjectId>> created) {
    new Submitting(session).submit(queue, params, status, created);
  }

  /**
   * Creates a queued task whose id the caller has made, so that it may ask again when it does not
   * know whether it has asked before.
   *
   * @param id one that nobody else uses, now or later
   * @return the task as it is now, whoever created it; one that has gone to the archive is created
   *     again
   * @throws InvalidRequestException when there is no such queue, or the store would not take it
   */
  public QueueTask submitOnce(Queue queue, ObjectId id, ObjectNode params) {
    return new Submitting(session).submitOnce(queue, id, params);
  }

  /** The task with this id. */
  public Optional<QueueTask> find(ObjectId id) {
    return session.document(Keys.task(id)).map(TaskForm::read);
  }

  /**
   * Shows tasks in the order of their ids, page by page, until there is no more.
   *
   * @param look looks at a task
   */
  public void each(Consumer<QueueTask> look) {
    session.pages(Keys.TASKS).forEach(document -> look.accept(TaskForm.read(document)));
  }

  /**
   * Holds a task back that is not under way: a queued or held one.
   *
   * @param status the status to hold it with: -3 or less, {@link Status#CANCELLED} to cancel it
   * @param reason why, in at most 1,000 characters; empty for no word
   * @return the task as it is now; empty where there is none
   * @throws TaskStateException when it is under way or has finished
   */
  public Optional<QueueTask> hold(ObjectId id, int status, String reason) {
    if (!Status.isHeld(status)) {
      throw new InvalidRequestException("status", "a task is held by -3 or less, not " + status);
    }
    if (reason.length() > MOST_REASON_CHARS) {
      throw new InvalidRequestException(
          "reason", "a reason has at most " + MOST_REASON_CHARS + " characters");
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
   * Queues a task again that is held or has finished; its output is forgotten.
   *
   * @return the task as it is now; empty where there is none
   * @throws TaskStateException when it is queued or under way
   */
  public Optional<QueueTask> requeue(ObjectId id) {
    return change(
        id,
        task -> {
          if (Status.isActive(task.status()) || task.status() == Status.QUEUED) {
            throw new TaskStateException("task " + id + " is " + Status.name(task.status()));
          }
          return task.with(Progress.waiting(Status.QUEUED, session.nowMillis(), 0))
              .with(TaskOutput.NONE);
        });
  }

  /**
   * Ends a task: one that is under way by a word to its runner, which ends its processes and then
   * reports; another is held back at once.
   *
   * @return the task as it is now; empty where there is none
   * @throws TaskStateException when it has finished
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
          Moves.move(transaction, task, step.next(task));
          Outcome.Done done = session.tryCommit(transaction.build());
          return done == null ? null : TaskForm.read(done.documents().getFirst());
        });
  }
}
