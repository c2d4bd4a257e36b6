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
 * Ends the work on a task with one transaction, retried until its outcome is known or the lease has
 * ended.
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
   * Ends the work with the result of the handler. A refusal for another reason than the task counts
   * as a failure of the work.
   */
  void finish(Work work, Finish finish) {
    String refusal =
        end(
            work,
            transaction -> {
              switch (finish) {
                case Finish.Done(Consumer<Transaction.Builder> parts) -> {
                  transaction.delete(work.ref);
                  parts.accept(transaction);
                }
                case Finish.Again again ->
                    transaction.update(work.ref, again.data(), When.after(again.delay()));
              }
            });
    if (refusal != null) {
      fail(work, refusal);
    }
  }

  /** Ends the work as failed: the task is tried again, or quarantined after too many attempts. */
  void fail(Work work, String reason) {
    if (poison.claims() > 0 && work.task().claims() >= poison.claims()) {
      quarantine(work, reason);
    } else {
      LOG.warn("{} failed and will be tried again: {}", work.ref, reason);
      tryAgain(work);
    }
  }

  private void tryAgain(Work work) {
    end(work, transaction -> transaction.update(work.ref, null, When.after(poison.retryDelay())));
  }

  /** Whether a task was claimed too often without an end. */
  boolean isPoisonous(Task task) {
    return poison.claims() > 0 && task.claims() > poison.claims();
  }

  /** Moves a task into quarantine, with its data and the reason. */
  void quarantine(Work work, String reason) {
    Task task = work.task();
    LOG.error("{} goes into quarantine after {} claims: {}", work.ref, task.claims(), reason);
    String refusal =
        end(
            work,
            transaction ->
                transaction
                    .delete(work.ref)
                    .add(task.group() + poison.suffix(), QuarantinedTask.of(task, reason).write()));
    if (refusal != null) {
      // The data may be too large for the reason to fit.
      LOG.error("{} cannot go into quarantine: {}", work.ref, refusal);
      tryAgain(work);
    }
  }

  /** Gives a task back at once. */
  void release(Work work) {
    end(work, transaction -> transaction.release(work.ref));
  }

  /**
   * Commits {@code parts} together with the end of a task that is still held.
   *
   * @return the reason of a refusal that is not about the task; otherwise null
   */
  private @Nullable String end(Work work, Consumer<Transaction.Builder> parts) {
    work.lock.lock();
    try {
      while (!work.over) {
        Transaction.Builder transaction = Transaction.by(client);
        parts.accept(transaction);
        Outcome outcome = tried(work, transaction.build());
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

  /** The outcome; null if it is not known yet, in which case the work may have ended. */
  private @Nullable Outcome tried(Work work, Transaction transaction) {
    try {
      return store.commit(transaction);
    } catch (OutcomeUnknownException e) {
      LOG.debug("asking what became of {}: {}", work.ref, e.getMessage());
      find(work);
    } catch (StoreClosedException e) {
      LOG.warn("cannot end {}: {}", work.ref, e.getMessage());
      // A remote server may start again; a store in this process will not.
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
   * Finds out whether the transaction took place. During the lease no other client can delete or
   * change the task, so if it is gone, this worker has ended it.
   */
  private void find(Work work) {
    try {
      Optional<Task> task = store.task(TaskRef.origin(work.ref.origin())).value();
      if (task.isEmpty()) {
        work.over = true;
      } else if (!work.isStill(task.get()) || task.get().id() != work.ref.id()) {
        work.lose();
      }
    } catch (StoreException e) {
      LOG.debug("cannot ask what became of {}: {}", work.ref, e.getMessage());
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
