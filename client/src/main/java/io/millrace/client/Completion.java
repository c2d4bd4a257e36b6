package io.millrace.client;

import io.millrace.store.Outcome;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Owner;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.When;
import io.millrace.wire.QuarantinedTask;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the work on a task with one transaction. The transaction is retried until its outcome is
 * known or the lease has ended.
 */
final class Completion {
  private static final Logger LOG = LoggerFactory.getLogger(Completion.class);
  private static final long PAUSE_MILLIS = 100;

  private final TaskStore store;
  private final Owner client;
  private final WorkerOptions.Poison poison;
  private final LongSupplier nanos;
  private final BooleanSupplier stopping;

  /** With a monotonic clock in nanoseconds. */
  Completion(TaskStore store, WorkerOptions options, LongSupplier nanos, BooleanSupplier stopping) {
    this.store = store;
    this.stopping = stopping;
    client = options.client();
    poison = options.poison();
    this.nanos = nanos;
  }

  /**
   * Ends the work with the result of the handler. If the transaction is refused for a reason other
   * than the task, the work has failed.
   */
  void finish(ClaimedTask work, TaskResult finish) {
    String refusal =
        end(
            work,
            transaction -> {
              switch (finish) {
                case TaskResult.Done(Consumer<Transaction.Builder> parts) -> {
                  transaction.delete(work.ref);
                  parts.accept(transaction);
                }
                case TaskResult.Again again ->
                    transaction.update(work.ref, again.data(), When.after(again.delay()));
              }
            });
    if (refusal != null) {
      fail(work, refusal);
    }
  }

  /** Records a failure: the task is tried again, or quarantined after too many attempts. */
  void fail(ClaimedTask work, String reason) {
    if (poison.claims() > 0 && work.task().claims() >= poison.claims()) {
      quarantine(work, reason);
    } else {
      LOG.warn("{} failed and will be tried again: {}", work.ref, reason);
      tryAgain(work);
    }
  }

  private void tryAgain(ClaimedTask work) {
    end(work, transaction -> transaction.update(work.ref, null, When.after(poison.retryDelay())));
  }

  /** Whether a task was claimed too often without being completed. */
  boolean isPoisonous(Task task) {
    return poison.claims() > 0 && task.claims() > poison.claims();
  }

  /** Moves a task to quarantine, with its data and the reason. */
  void quarantine(ClaimedTask work, String reason) {
    Task task = work.task();
    LOG.error("{} is moved to quarantine after {} claims: {}", work.ref, task.claims(), reason);
    String refusal =
        end(
            work,
            transaction ->
                transaction
                    .delete(work.ref)
                    .add(task.group() + poison.suffix(), QuarantinedTask.of(task, reason).write()));
    if (refusal != null) {
      // With the reason, the data may be too large.
      LOG.error("{} cannot be moved to quarantine: {}", work.ref, refusal);
      tryAgain(work);
    }
  }

  /** Releases a task at once. */
  void release(ClaimedTask work) {
    end(work, transaction -> transaction.release(work.ref));
  }

  /**
   * Commits {@code parts}, which end the work on a task, if the task is still claimed.
   *
   * @return the reason of a refusal that is not about the task; otherwise null
   */
  private @Nullable String end(ClaimedTask work, Consumer<Transaction.Builder> parts) {
    work.lock.lock();
    try {
      while (!work.over) {
        Transaction.Builder transaction = Transaction.by(client);
        parts.accept(transaction);
        Outcome outcome = commit(work, transaction.build());
        switch (outcome) {
          case null -> {
            if (work.leaseEndNanos - nanos.getAsLong() <= 0 || !paused()) {
              work.lose();
            }
          }
          case Outcome.Done _ -> work.over = true;
          case Outcome.Refused refused -> {
            String why = refused.reasons().getFirst().message();
            if (!work.isNamed(refused)) {
              return why;
            }
            LOG.warn("the claim of {} is lost: {}", work.ref, why);
            work.lose();
          }
        }
      }
      return null;
    } finally {
      work.lock.unlock();
    }
  }

  /** Returns the outcome, or null if it is unknown; the work may have ended then. */
  private @Nullable Outcome commit(ClaimedTask work, Transaction transaction) {
    try {
      return store.commit(transaction);
    } catch (OutcomeUnknownException e) {
      LOG.debug("looking up {} after an unknown outcome: {}", work.ref, e.getMessage());
      find(work);
    } catch (StoreClosedException e) {
      LOG.warn("cannot end {}: {}", work.ref, e.getMessage());
      // A remote server may be restarted; a store in this process will not.
      if (stopping.getAsBoolean() || !(store instanceof HttpTaskStore)) {
        work.lose();
      }
    } catch (RejectedException e) {
      LOG.error("cannot end {}: {}", work.ref, e.getMessage());
      work.lose();
    } catch (StoreException e) {
      LOG.warn("cannot end {} yet: {}", work.ref, e.getMessage());
    }
    return null;
  }

  /**
   * Determines whether the transaction was committed. During the lease no other client can delete
   * or change the task. So if the task is gone, the transaction was committed.
   */
  private void find(ClaimedTask work) {
    try {
      Optional<Task> task = store.task(TaskRef.origin(work.ref.origin())).value();
      if (task.isEmpty()) {
        work.over = true;
      } else if (!work.isStill(task.get()) || task.get().id() != work.ref.id()) {
        work.lose();
      }
    } catch (StoreException e) {
      LOG.debug("cannot look up {} after an unknown outcome: {}", work.ref, e.getMessage());
    }
  }

  private static boolean paused() {
    try {
      Thread.sleep(PAUSE_MILLIS);
      return true;
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
