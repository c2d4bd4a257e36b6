package io.millrace.queues.registry;

import io.millrace.queues.Output;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.Hold;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Status;
import io.millrace.store.Bytes;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.Add;
import io.millrace.store.Transaction.Put;
import io.millrace.store.Transaction.When;
import io.millrace.work.policy.Deadlines;
import java.time.Duration;

/**
 * Steps of queue tasks from one status to another, as parts of transactions: the kernel task, the
 * document, and what belongs to both, which are the unique key, the deadline and files of output.
 */
final class TaskTransitions {
  private TaskTransitions() {}

  /**
   * Replaces the kernel task by one in the group of the new status, and writes the document, which
   * must be the first one that the transaction writes.
   *
   * <p>A task that is queued again goes to the place that follows from its creation, not to the
   * end, unless it is to wait before its next attempt.
   */
  static void move(Transaction.Builder transaction, QueueTask from, QueueTask next) {
    QueueTask to = replace(transaction, from, next);
    if (to.status() == Status.QUEUED) {
      QueueRegistry.ring(transaction, to.queue(), to.progress().delay());
    }
  }

  /**
   * The same without the bell that tells nodes of a queued task, so that a transaction can do it
   * with several tasks.
   *
   * @return the task as the transaction writes it
   */
  static QueueTask replace(Transaction.Builder transaction, QueueTask from, QueueTask next) {
    QueueTask to = released(transaction, next);
    String name = to.id().hex();
    boolean queued = to.status() == Status.QUEUED;
    Duration delay = to.progress().delay();
    When when =
        !queued
            ? When.now()
            : delay.isZero() ? new When.At(Math.max(0, to.ctimeMillis() - 1)) : When.after(delay);
    transaction
        .delete(from.place().byOrigin())
        .add(
            new Add(
                Queue.group(to.queue(), to.status()),
                Bytes.of(name),
                when,
                false,
                name,
                queued ? to.policy().lane() : null))
        .put(new Put(Keys.task(to.id()), from.place().version(), QueueTask.write(to, name), true));
    forget(transaction, from.output(), to.output());
    watch(transaction, deadlineMillis(from), to);
    return to;
  }

  /** Deletes a task that nobody has claimed, with its output. */
  static void delete(Transaction.Builder transaction, QueueTask task) {
    transaction
        .delete(task.place().byOrigin())
        .delete(Keys.task(task.id()), task.place().version());
    forget(transaction, task.output(), TaskOutput.NONE);
    Hold hold = task.progress().hold();
    if (hold != null) {
      transaction.delete(Keys.unique(task.queue(), hold.hash()), Transaction.DocumentVersion.ANY);
    }
    long deadline = deadlineMillis(task);
    if (deadline > 0) {
      transaction.delete(Keys.deadline(deadline, task.id()), Transaction.DocumentVersion.ANY);
    }
  }

  /** Deletes the documents of the files to which the task no longer refers. */
  static void forget(Transaction.Builder transaction, TaskOutput before, TaskOutput after) {
    forget(transaction, before.stdout(), after.stdout());
    forget(transaction, before.stderr(), after.stderr());
    forget(transaction, before.mixed(), after.mixed());
  }

  /** Deletes the document of a file to which the task no longer refers; its chunks are swept. */
  private static void forget(Transaction.Builder transaction, Output before, Output after) {
    if (before instanceof Output.Stored stored && !before.equals(after)) {
      transaction.delete(Keys.file(stored.file()), Transaction.DocumentVersion.ANY);
    }
  }

  /** The same task without its unique key, if it has one, when its status no longer holds that. */
  static QueueTask released(Transaction.Builder transaction, QueueTask task) {
    Hold hold = task.progress().hold();
    if (hold == null
        || hold.scope().holds(task.status() == Status.RUNNING, hasEnded(task.status()))) {
      return task;
    }
    transaction.delete(Keys.unique(task.queue(), hold.hash()), Transaction.DocumentVersion.ANY);
    return task.with(task.progress().with((Hold) null));
  }

  /** Has the sweeper look at a task when it is over time. */
  static void watch(Transaction.Builder transaction, long beforeMillis, QueueTask to) {
    long after = deadlineMillis(to);
    if (after == beforeMillis) {
      return;
    }
    if (beforeMillis > 0) {
      transaction.delete(Keys.deadline(beforeMillis, to.id()), Transaction.DocumentVersion.ANY);
    }
    if (after > 0) {
      transaction.put(
          Keys.deadline(after, to.id()), Transaction.DocumentVersion.ABSENT, Keys.body(to.id()));
    }
  }

  private static boolean hasEnded(int status) {
    return Status.isFinished(status)
        || status == Status.CANCELLED
        || status == Status.TERMINATED
        || status == Status.ORPHANED;
  }

  /**
   * When it is to be failed unless something happens before; 0 for never. While it runs, its runner
   * sees to that.
   */
  static long deadlineMillis(QueueTask task) {
    int status = task.status();
    Deadlines deadlines = task.progress().deadlines();
    if (deadlines.isEmpty() || hasEnded(status) || status == Status.RUNNING) {
      return 0;
    }
    return deadlines.next(status == Status.QUEUED || status == Status.CLAIMED);
  }
}
