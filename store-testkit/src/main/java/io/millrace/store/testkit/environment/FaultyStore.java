package io.millrace.store.testkit.environment;

import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.StoreClosedException;
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
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * A store behind an unreliable connection: calls fail before they reach the store, or after they
 * have taken effect. Reads and subscriptions fail only before. As thread-safe as its {@link
 * Faults}.
 */
public final class FaultyStore implements TaskStore {
  /** Decides which calls fail. */
  public interface Faults {
    /** Whether a call reaches the store. */
    boolean reaches();

    /**
     * Whether the answer to a change reaches the caller. May throw an exception to end the caller.
     */
    boolean answers();
  }

  private final Supplier<TaskStore> store;
  private final Faults faults;

  /**
   * A store behind a faults.
   *
   * @param store supplies the store for each call that reaches it
   */
  public FaultyStore(Supplier<TaskStore> store, Faults faults) {
    this.store = store;
    this.faults = faults;
  }

  /**
   * A store behind a connection that breaks if {@code breaks} is true. It is asked before each call
   * and before each answer to a change.
   */
  public static FaultyStore breaking(Supplier<TaskStore> store, BooleanSupplier breaks) {
    return new FaultyStore(
        store,
        new Faults() {
          @Override
          public boolean reaches() {
            return !breaks.getAsBoolean();
          }

          @Override
          public boolean answers() {
            return !breaks.getAsBoolean();
          }
        });
  }

  private TaskStore reach() {
    if (!faults.reaches()) {
      throw new StoreClosedException("the line is broken");
    }
    return store.get();
  }

  private Outcome answer(Outcome outcome) {
    if (!faults.answers()) {
      throw new OutcomeUnknownException("the connection broke before the answer arrived");
    }
    return outcome;
  }

  /** Fails only before it reaches the store: the answer comes when nobody waits for it. */
  @Override
  public CompletableFuture<Outcome> submit(Command command) {
    return reach().submit(command);
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

  /** Does nothing: the store stays open. */
  @Override
  public void close() {}
}
