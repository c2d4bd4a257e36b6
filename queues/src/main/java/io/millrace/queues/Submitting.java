package io.millrace.queues;

import io.millrace.store.Bytes;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.Add;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.Put;
import io.millrace.store.When;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** How tasks come into being. */
final class Submitting {
  /** The most tasks that one transaction creates: a task has two parts, and the bell is one. */
  private static final int CREATED_AT_ONCE = 4_000;

  private static final int BYTES_AT_ONCE = 4 << 20;

  /** How much is shown of params that are refused. */
  private static final int SHOWN_CHARS = 60;

  private final QueueSession session;

  Submitting(QueueSession session) {
    this.session = session;
  }

  /** Tasks with ids of their own, told transaction by transaction. */
  void submit(Queue queue, List<ObjectNode> params, int status, Consumer<List<ObjectId>> created) {
    if (status == Status.ORPHANED || (status != Status.QUEUED && !Status.isHeld(status))) {
      throw new InvalidRequestException(
          "status",
          "a task begins with -2 or another negative status but -1 and -6, not " + status);
    }
    int done = 0;
    while (done < params.size()) {
      List<ObjectId> ids = submitSome(queue, params.subList(done, params.size()), status);
      done += ids.size();
      created.accept(ids);
    }
  }

  private List<ObjectId> submitSome(Queue queue, List<ObjectNode> params, int status) {
    Transaction.Builder transaction = begin(queue, status);
    List<ObjectId> ids = new ArrayList<>();
    int bytes = 0;
    try (DocumentWriter writer = Json.writer()) {
      for (ObjectNode each : params) {
        ObjectId id = session.newId();
        Bytes body = TaskForm.write(task(queue, id, each, status), id.hex(), writer);
        check(each, body);
        bytes += body.size();
        if (!ids.isEmpty() && bytes > BYTES_AT_ONCE) {
          break;
        }
        add(transaction, queue, id, status, body);
        ids.add(id);
        if (ids.size() == CREATED_AT_ONCE) {
          break;
        }
      }
    }
    if (session.tryCommit(transaction.build()) == null) {
      throw noQueue();
    }
    return ids;
  }

  /** One queued task, or the one that has this id already. */
  QueueTask submitOnce(Queue queue, ObjectId id, ObjectNode params) {
    return session.retry("task " + id, () -> tryOnce(queue, id, params));
  }

  private @Nullable QueueTask tryOnce(Queue queue, ObjectId id, ObjectNode params) {
    Optional<QueueTask> there = session.document(Keys.task(id)).map(TaskForm::read);
    if (there.isPresent()) {
      return there.get();
    }
    if (session.document(Keys.queue(queue.id())).isEmpty()) {
      throw noQueue();
    }
    Transaction.Builder transaction = begin(queue, Status.QUEUED);
    Bytes body = TaskForm.write(task(queue, id, params, Status.QUEUED), id.hex());
    check(params, body);
    add(transaction, queue, id, Status.QUEUED, body);
    return session.tryCommit(transaction.build()) == null
        ? null
        : session.document(Keys.task(id)).map(TaskForm::read).orElse(null);
  }

  private Transaction.Builder begin(Queue queue, int status) {
    Transaction.Builder transaction = session.begin();
    transaction.depend(Keys.queue(queue.id()), DocumentVersion.ANY);
    if (status == Status.QUEUED) {
      QueueRegistry.ring(transaction, queue.id());
    }
    return transaction;
  }

  private QueueTask task(Queue queue, ObjectId id, ObjectNode params, int status) {
    long now = session.nowMillis();
    return new QueueTask(
        id,
        queue.id(),
        params,
        now,
        Progress.waiting(status, now, 0),
        TaskOutput.NONE,
        new Place(0, 0));
  }

  private static void add(
      Transaction.Builder transaction, Queue queue, ObjectId id, int status, Bytes body) {
    String group = Queue.group(queue.id(), status);
    transaction.add(new Add(group, Bytes.of(id.hex()), When.now(), false, id.hex()));
    transaction.put(new Put(Keys.task(id), DocumentVersion.ABSENT, body, true));
  }

  /** Refuses params that leave no room for what is kept of the task beside them. */
  private void check(ObjectNode params, Bytes body) {
    if (body.size() <= session.paramsBytes()) {
      return;
    }
    int size = Json.write(params).size();
    if (size > session.paramsBytes()) {
      String begin = params.toString().substring(0, SHOWN_CHARS);
      throw new InvalidRequestException(
          "params",
          "the params of a task have %d bytes of JSON, and may have %d: %s…"
              .formatted(size, session.paramsBytes(), begin));
    }
  }

  private static InvalidRequestException noQueue() {
    return new InvalidRequestException("queue", "queue not found");
  }
}
