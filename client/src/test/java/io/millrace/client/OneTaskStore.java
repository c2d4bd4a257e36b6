package io.millrace.client;

import io.millrace.store.Bytes;
import io.millrace.store.Command;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.TaskStore.Read;
import io.millrace.store.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A store of one claimed task, without a thread, which counts what is done to it. */
final class OneTaskStore implements TaskStore {
  private final Owner owner;
  private long id = 1;
  private boolean ended;
  private int refused;

  OneTaskStore(Owner owner) {
    this.owner = owner;
  }

  /** The task as it is now. */
  synchronized Task task() {
    return new Task(id, 1, "group", Long.MAX_VALUE, owner, 1, 1, Bytes.EMPTY);
  }

  /** Whether it was deleted or given back. */
  synchronized boolean isEnded() {
    return ended;
  }

  /** How many transactions came too late, or named the task by an id that it had before. */
  synchronized int refused() {
    return refused;
  }

  @Override
  public synchronized Outcome commit(Transaction transaction) {
    Position position = new Position(1, id);
    List<TaskRef> refs = new ArrayList<>(transaction.deletes());
    transaction.updates().forEach(update -> refs.add(update.task()));
    transaction.renewals().forEach(renewal -> refs.add(renewal.task()));
    for (TaskRef ref : refs) {
      if (ended || ref.id() != id) {
        refused++;
        Reason reason = Reason.of(Reason.Kind.MISSING_UPDATE, ref, ref + " is not there");
        return new Outcome.Refused(position, 0, List.of(reason));
      }
    }
    id++;
    ended = transaction.renewals().isEmpty();
    return new Outcome.Done(position, 0, List.of(task()), List.of(), false);
  }

  @Override
  public CompletableFuture<Outcome> submit(Command command) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Read<List<Optional<Task>>> tasks(List<TaskRef> refs) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Read<List<Task>> group(GroupQuery query) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Read<List<GroupSummary>> groups() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Read<Optional<Document>> document(DocumentKey key) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Read<List<Document>> documents(DocumentQuery query) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Subscription subscribe(Interest interest) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}
}
