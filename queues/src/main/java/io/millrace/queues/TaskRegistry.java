package io.millrace.queues;

import io.millrace.store.Bytes;
import io.millrace.store.DocumentQuery;
import io.millrace.store.Outcome;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.Add;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.Put;
import io.millrace.store.When;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import tools.jackson.databind.node.ObjectNode;

/** The queue tasks, for those who submit and operate. Safe for use by any number of threads. */
public final class TaskRegistry {
  /** The most tasks that one transaction creates: a task has two parts, and the bell is one. */
  private static final int CREATED_AT_ONCE = 4_000;

  private static final int BYTES_AT_ONCE = 4 << 20;
  private static final int PAGE = 1_000;

  private final Ledger ledger;

  TaskRegistry(Ledger ledger) {
    this.ledger = ledger;
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
    if (status != Status.QUEUED && !Status.isHeld(status)) {
      throw new InvalidRequestException(
          "status", "a task begins with -2 or another negative status but -1, not " + status);
    }
    int done = 0;
    while (done < params.size()) {
      List<ObjectId> ids = submitSome(queue, params.subList(done, params.size()), status);
      done += ids.size();
      created.accept(ids);
    }
  }

  private List<ObjectId> submitSome(Queue queue, List<ObjectNode> params, int status) {
    Transaction.Builder transaction = ledger.transaction();
    transaction.depend(Keys.queue(queue.id()), DocumentVersion.ANY);
    String group = Queue.group(queue.id(), status);
    long now = ledger.nowMillis();
    List<ObjectId> ids = new ArrayList<>();
    int bytes = 0;
    for (ObjectNode each : params) {
      ObjectId id = ledger.newId();
      QueueTask task =
          new QueueTask(
              id,
              queue.id(),
              each,
              now,
              Progress.waiting(status, now, 0),
              TaskOutput.NONE,
              new Place(0, 0));
      Bytes body = TaskForm.write(task, id.hex());
      bytes += body.size();
      if (!ids.isEmpty() && bytes > BYTES_AT_ONCE) {
        break;
      }
      transaction.add(new Add(group, Bytes.of(id.hex()), When.now(), false, id.hex()));
      transaction.put(new Put(Keys.task(id), DocumentVersion.ABSENT, body, true));
      ids.add(id);
      if (ids.size() == CREATED_AT_ONCE) {
        break;
      }
    }
    if (status == Status.QUEUED) {
      QueueRegistry.ring(transaction, queue.id());
    }
    if (ledger.commit(transaction.build()) == null) {
      throw new InvalidRequestException("queue", "queue not found");
    }
    return ids;
  }

  /** The task with this id. */
  public Optional<QueueTask> find(ObjectId id) {
    return ledger.document(Keys.task(id)).map(TaskForm::read);
  }

  /**
   * Shows tasks in the order of their ids, page by page, until there is no more.
   *
   * @param look looks at a task
   */
  public void each(Consumer<QueueTask> look) {
    String after = "";
    while (true) {
      var page = new DocumentQuery(Keys.TASKS, "", after, PAGE);
      var documents = ledger.store().documents(page).value();
      documents.forEach(document -> look.accept(TaskForm.read(document)));
      if (documents.size() < PAGE) {
        return;
      }
      after = documents.getLast().key().key();
    }
  }

  /**
   * Holds a task back that is not under way: a queued or held one.
   *
   * @param status the status to hold it with: -3 or less, {@link Status#CANCELLED} to cancel it
   * @param reason why; empty for no word
   * @return the task as it is now; empty where there is none
   * @throws TaskStateException when it is under way or has finished
   */
  public Optional<QueueTask> hold(ObjectId id, int status, String reason) {
    if (!Status.isHeld(status)) {
      throw new InvalidRequestException("status", "a task is held by -3 or less, not " + status);
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
          return task.with(task.progress().to(status, ledger.nowMillis(), why));
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
          return task.with(Progress.waiting(Status.QUEUED, ledger.nowMillis(), 0))
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
    return ledger.insist(
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
        ledger
            .transaction()
            .depend(Keys.task(task.id()), task.place().version())
            .put(Keys.stop(task.id()), DocumentVersion.ANY, Bytes.of("terminate"))
            .build();
    return ledger.commit(transaction) != null;
  }

  /** What to make of a task. */
  private interface Step {
    QueueTask next(QueueTask task);
  }

  private Optional<QueueTask> change(ObjectId id, Step step) {
    return ledger.insist(
        "task " + id,
        () -> find(id),
        task -> {
          Transaction.Builder transaction = ledger.transaction();
          Moves.move(transaction, task, step.next(task));
          Outcome.Done done = ledger.commit(transaction.build());
          return done == null ? null : TaskForm.read(done.documents().getFirst());
        });
  }
}
