package io.millrace.queues;

import io.millrace.store.Bytes;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.Add;
import io.millrace.store.Transaction.Put;
import io.millrace.store.When;

/** How the kernel task of a queue task follows its status, as part of a transaction. */
final class Moves {
  private Moves() {}

  /**
   * Replaces the kernel task by one in the group of the new status, and writes the document first
   * of all that the transaction writes.
   *
   * <p>A task that is queued again goes to the place that its creation gives it, not to the end.
   */
  static void move(Transaction.Builder transaction, QueueTask from, QueueTask to) {
    String name = to.id().hex();
    boolean queued = to.status() == Status.QUEUED;
    When when = queued ? new When.At(Math.max(0, to.ctimeMillis() - 1)) : When.now();
    transaction
        .delete(from.place().byOrigin())
        .add(new Add(Queue.group(to.queue(), to.status()), Bytes.of(name), when, false, name))
        .put(new Put(Keys.task(to.id()), from.place().version(), QueueTask.write(to, name), true));
    forget(transaction, from.output().stdout(), to.output().stdout());
    forget(transaction, from.output().stderr(), to.output().stderr());
    forget(transaction, from.output().mixed(), to.output().mixed());
    if (queued) {
      QueueRegistry.ring(transaction, to.queue());
    }
  }

  /** A file that the task does not name any more goes; its chunks are swept. */
  private static void forget(Transaction.Builder transaction, Output before, Output after) {
    if (before instanceof Output.Stored stored && !before.equals(after)) {
      transaction.delete(Keys.file(stored.file()), Transaction.DocumentVersion.ANY);
    }
  }
}
