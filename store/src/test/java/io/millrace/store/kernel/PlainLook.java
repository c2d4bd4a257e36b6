package io.millrace.store.kernel;

import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.When;
import org.jspecify.annotations.Nullable;

/**
 * A transaction's view of what there is at a time, in the words of the documentation.
 *
 * @param store what there is
 * @param transaction who looks
 * @param nowMillis when
 */
record PlainLook(PlainStore store, Transaction transaction, long nowMillis) {
  /** Whether a number of milliseconds is one that the store takes. */
  static boolean inRange(long least, long millis) {
    return least <= millis && millis <= Limits.LARGEST_NUMBER;
  }

  /** The time of a task that is held for so long from now on. */
  long after(long millis) {
    return inRange(0, millis) ? Math.min(nowMillis + millis, Limits.LARGEST_NUMBER) : nowMillis;
  }

  long time(When when) {
    return switch (when) {
      case When.Now() -> nowMillis;
      case When.At(long epochMillis) -> epochMillis == 0 ? nowMillis : epochMillis;
      case When.After(long millis) -> after(millis);
    };
  }

  /** The task where it is there and the client's to change. */
  @Nullable Task mine(TaskRef ref) {
    Task task = store.find(ref);
    boolean anothers =
        task != null
            && task.stateAt(nowMillis) == Task.State.CLAIMED
            && !transaction.override()
            && !transaction.client().equals(task.owner());
    return anothers ? null : task;
  }

  /** Whether a claim holds the task. */
  boolean isAlive(Task task) {
    return task.token() != 0 && task.stateAt(nowMillis) == Task.State.CLAIMED;
  }

  boolean isWaiting(Task task) {
    return task.stateAt(nowMillis) == Task.State.WAITING;
  }

  boolean mayRenew(Transaction.Renewal renewal, Task task) {
    boolean ownBefore = task.token() != 0 && transaction.client().equals(task.owner());
    return isAlive(task) || (renewal.revive() && ownBefore);
  }

  /** Who holds what is held on: an operator who prolongs another's claim leaves it to that one. */
  @Nullable Owner heir(Task old) {
    return transaction.override() && isAlive(old) ? old.owner() : transaction.client();
  }

  /** Whether a document has the expected version. */
  boolean isThere(DocumentKey key, long expected) {
    Document found = store.document(key);
    return expected == DocumentVersion.ANY
        ? found != null
        : expected == (found == null ? DocumentVersion.ABSENT : found.version());
  }

  /** Whether a put finds what it expects. */
  boolean mayPut(Transaction.Put put) {
    return put.expectedVersion() == DocumentVersion.ANY
        || isThere(put.key(), put.expectedVersion());
  }
}
