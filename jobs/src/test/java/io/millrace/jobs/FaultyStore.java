package io.millrace.jobs;

import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.DocumentQuery;
import io.millrace.store.GroupQuery;
import io.millrace.store.GroupSummary;
import io.millrace.store.Interest;
import io.millrace.store.Outcome;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Read;
import io.millrace.store.StoreClosedException;
import io.millrace.store.Subscription;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** A store behind a line that breaks now and then, before a call or before its answer. */
final class FaultyStore implements TaskStore {
  private final Supplier<TaskStore> store;
  private final BooleanSupplier breaks;

  FaultyStore(Supplier<TaskStore> store, BooleanSupplier breaks) {
    this.store = store;
    this.breaks = breaks;
  }

  private TaskStore reach() {
    if (breaks.getAsBoolean()) {
      throw new StoreClosedException("the line is broken");
    }
    return store.get();
  }

  private Outcome answer(Outcome outcome) {
    if (breaks.getAsBoolean()) {
      throw new OutcomeUnknownException("the line broke before the answer came");
    }
    return outcome;
  }

  @Override
  public CompletableFuture<Outcome> submit(Command command) {
    throw new UnsupportedOperationException("the registry waits for answers");
  }

  @Override
  public Outcome commit(Transaction transaction) {
    return answer(reach().commit(transaction));
  }

  @Override
  public Outcome claim(Claim claim) {
    return answer(reach().claim(claim));
  }

  @Override
  public Read<List<Optional<Task>>> tasks(List<TaskRef> refs) {
    return reach().tasks(refs);
  }

  @Override
  public Read<List<Task>> group(GroupQuery query) {
    return reach().group(query);
  }

  @Override
  public Read<List<GroupSummary>> groups() {
    return reach().groups();
  }

  @Override
  public Read<Optional<Document>> document(DocumentKey key) {
    return reach().document(key);
  }

  @Override
  public Read<List<Document>> documents(DocumentQuery query) {
    return reach().documents(query);
  }

  @Override
  public Subscription subscribe(Interest interest) {
    return reach().subscribe(interest);
  }

  @Override
  public void close() {}
}
