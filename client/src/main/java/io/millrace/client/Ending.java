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
import io.millrace.store.When;
import io.millrace.wire.QuarantinedTask;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends the work on a task: one transaction, tried until it is known or the lease is over. */
final class Ending {
  private static final Logger LOG = LoggerFactory.getLogger(Ending.class);
  private static final long PAUSE_MILLIS = 100;

  private final TaskStore store;
  private final Owner client;
  private final WorkerOptions.Poison poison;
  private final LongSupplier nanos;
  private final BooleanSupplier stopping;

  /** With a clock in nanoseconds that never goes back. */
  Ending(TaskStore store, WorkerOptions options, LongSupplier nanos, BooleanSupplier stopping) {
    this.store = store;
    this.stopping = stopping;
    client = options.client();
    poison = options.poison();
    this.nanos = nanos;
  }

  /** Ends as the handler said. A refusal that is not about the task counts as its failure. */
  void finish(Held held, Finish finish) {
    String refusal =
        end(
            held,
            transaction -> {
              switch (finish) {
                case Finish.Done(Consumer<Transaction.Builder> parts) -> {
                  transaction.delete(held.ref);
                  parts.accept(transaction);
                }
                case Finish.Again again ->
                    transaction.update(held.ref, again.data(), When.after(again.delay()));
              }
            });
    if (refusal != null) {
      fail(held, refusal);
    }
  }

  /** Ends in failure: for another try, or into quarantine after too many. */
  void fail(Held held, String reason) {
    if (poison.claims() > 0 && held.work.task().claims() >= poison.claims()) {
      quarantine(held, reason);
    } else {
      LOG.warn("{} failed and will be tried again: {}", held.ref, reason);
      tryAgain(held);
    }
  }

  private void tryAgain(Held held) {
    end(held, transaction -> transaction.update(held.ref, null, When.after(poison.retryDelay())));
  }

  /** Whether a task was claimed so often, without any end, that nobody should try it again. */
  boolean isPoisonous(Task task) {
    return poison.claims() > 0 && task.claims() > poison.claims();
  }

  /** Moves a task into quarantine, with its data and the reason. */
  void quarantine(Held held, String reason) {
    Task task = held.work.task();
    LOG.error("{} goes into quarantine after {} claims: {}", held.ref, task.claims(), reason);
    String refusal =
        end(
            held,
            transaction ->
                transaction
                    .delete(held.ref)
                    .add(task.group() + poison.suffix(), QuarantinedTask.of(task, reason).write()));
    if (refusal != null) {
      // As where its data is so large that the reason has no room beside it.
      LOG.error("{} cannot go into quarantine: {}", held.ref, refusal);
      tryAgain(held);
    }
  }

  /** Gives a task back at once. */
  void release(Held held) {
    end(held, transaction -> transaction.release(held.ref));
  }

  /**
   * Commits what {@code parts} say about a task that is still held.
   *
   * @return why it was refused for something else than the task; null where it was not
   */
  private @Nullable String end(Held held, Consumer<Transaction.Builder> parts) {
    held.lock.lock();
    try {
      while (!held.over) {
        Transaction.Builder transaction = Transaction.by(client);
        parts.accept(transaction);
        Outcome outcome = tried(held, transaction.build());
        switch (outcome) {
          case null -> {
            if (held.leaseEndNanos - nanos.getAsLong() <= 0 || !paused()) {
              held.lose();
            }
          }
          case Outcome.Done _ -> held.over = true;
          case Outcome.Refused refused -> {
            String why = refused.reasons().getFirst().message();
            if (!isAbout(held.ref, refused)) {
              return why;
            }
            LOG.warn("the claim of {} is lost: {}", held.ref, why);
            held.lose();
          }
        }
      }
      return null;
    } finally {
      held.lock.unlock();
    }
  }

  private static boolean isAbout(TaskRef ref, Outcome.Refused refused) {
    return refused.reasons().stream()
        .map(reason -> reason.task())
        .anyMatch(named -> named != null && Leases.names(named, ref));
  }

  /** The outcome, or null where there is none yet; the task is over where it is known to be. */
  private @Nullable Outcome tried(Held held, Transaction transaction) {
    try {
      return store.commit(transaction);
    } catch (OutcomeUnknownException e) {
      LOG.debug("asking what became of {}: {}", held.ref, e.getMessage());
      find(held);
    } catch (StoreClosedException e) {
      LOG.warn("cannot end {}: {}", held.ref, e.getMessage());
      // A server that starts again may take it yet; a store in this process will not.
      if (stopping.getAsBoolean() || !(store instanceof HttpTaskStore)) {
        held.lose();
      }
    } catch (RejectedException e) {
      LOG.error("cannot end {}: {}", held.ref, e.getMessage());
      held.lose();
    } catch (StoreException e) {
      LOG.warn("cannot end {} yet: {}", held.ref, e.getMessage());
    }
    return null;
  }

  /**
   * While the lease lasts nobody else may delete or change the task: so if it is gone, it was us.
   */
  private void find(Held held) {
    try {
      Optional<Task> task = store.task(TaskRef.origin(held.ref.origin())).value();
      if (task.isEmpty()) {
        held.over = true;
      } else if (!held.isStill(task.get()) || task.get().id() != held.ref.id()) {
        held.lose();
      }
    } catch (StoreException e) {
      LOG.debug("cannot ask what became of {}: {}", held.ref, e.getMessage());
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
