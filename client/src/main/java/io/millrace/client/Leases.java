package io.millrace.client;

import io.millrace.store.Outcome;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Owner;
import io.millrace.store.Reason;
import io.millrace.store.StoreException;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps claims alive: each is renewed at a third of its lease, all that are due in one transaction.
 * Driven by steps; tasks may come and go meanwhile.
 */
final class Leases {
  private static final Logger LOG = LoggerFactory.getLogger(Leases.class);

  private final TaskStore store;
  private final Owner client;
  private final Duration lease;
  private final LongSupplier nanos;
  private final Set<Held> all = ConcurrentHashMap.newKeySet();

  /** With a clock in nanoseconds that never goes back. */
  Leases(TaskStore store, Owner client, Duration lease, LongSupplier nanos) {
    this.store = store;
    this.client = client;
    this.lease = lease;
    this.nanos = nanos;
  }

  /** Holds a task that was just claimed. */
  Held hold(Task task) {
    Held held = new Held(new Work(task));
    held.leased(task, nanos.getAsLong(), lease.toNanos());
    all.add(held);
    return held;
  }

  /** Lets go of a task that ended. */
  void drop(Held held) {
    all.remove(held);
  }

  /** What is held now. */
  List<Held> held() {
    return List.copyOf(all);
  }

  /** Renews what is due at {@code now} and says when to step again. */
  long step(long now) {
    List<Held> locked = new ArrayList<>();
    for (Held held : all) {
      if (!held.over && held.renewAtNanos - now <= 0 && held.lock.tryLock()) {
        locked.add(held);
      }
    }
    try {
      List<Held> due = locked.stream().filter(held -> !ended(held, now)).toList();
      if (!due.isEmpty()) {
        renew(due, now);
      }
    } finally {
      locked.forEach(held -> held.lock.unlock());
    }
    long next = now + lease.toNanos() / 3;
    for (Held held : all) {
      // One whose end is under way is not renewed, however long that takes.
      if (!held.over && held.renewAtNanos - now > 0) {
        next = Math.min(next - now, held.renewAtNanos - now) + now;
      }
    }
    return next;
  }

  private static boolean ended(Held held, long now) {
    if (held.over) {
      return true;
    }
    if (held.leaseEndNanos - now <= 0) {
      LOG.warn("the lease of {} ended before it could be renewed", held.ref);
      held.lose();
      return true;
    }
    return false;
  }

  private void renew(List<Held> due, long now) {
    Transaction.Builder renewals = Transaction.by(client);
    due.forEach(held -> renewals.renew(held.ref, lease));
    try {
      switch (store.commit(renewals.build())) {
        case Outcome.Done done -> {
          for (int i = 0; i < due.size(); i++) {
            due.get(i).leased(done.tasks().get(i), now, lease.toNanos());
          }
        }
        case Outcome.Refused refused -> refused(due, refused, now);
      }
    } catch (OutcomeUnknownException e) {
      LOG.debug("asking what became of a renewal: {}", e.getMessage());
      find(due, now);
    } catch (StoreException e) {
      LOG.warn("cannot renew {} claims yet: {}", due.size(), e.getMessage());
      due.forEach(held -> held.renewAtNanos = now + soonNanos());
    }
  }

  /** Drops those that are lost; the others are tried again at once, or soon where none is. */
  private void refused(List<Held> due, Outcome.Refused refused, long now) {
    boolean lost = false;
    for (Held held : due) {
      if (isNamed(held.ref, refused)) {
        LOG.warn("the claim of {} is lost", held.ref);
        held.lose();
        lost = true;
      }
    }
    List<Held> left = due.stream().filter(held -> !held.over).toList();
    if (lost && !left.isEmpty()) {
      renew(left, now);
    } else {
      left.forEach(held -> held.renewAtNanos = now + soonNanos());
    }
  }

  private static boolean isNamed(TaskRef ref, Outcome.Refused refused) {
    for (Reason reason : refused.reasons()) {
      TaskRef named = reason.task();
      if (named != null && names(named, ref)) {
        return true;
      }
    }
    return false;
  }

  /** Whether a refusal speaks of this task, by id or by origin. */
  static boolean names(TaskRef named, TaskRef ref) {
    return (named.id() != 0 && named.id() == ref.id())
        || (named.origin() != 0 && named.origin() == ref.origin());
  }

  /** Learns from the store whether a renewal with an unknown outcome took place. */
  private void find(List<Held> due, long now) {
    try {
      List<TaskRef> origins = due.stream().map(held -> TaskRef.origin(held.ref.origin())).toList();
      List<Optional<Task>> found = store.tasks(origins).value();
      for (int i = 0; i < due.size(); i++) {
        Held held = due.get(i);
        Optional<Task> task = found.get(i);
        if (task.isPresent() && held.isStill(task.get())) {
          held.ref = new TaskRef(task.get().id(), task.get().origin());
          held.renewAtNanos = now + soonNanos();
        } else {
          held.lose();
        }
      }
    } catch (StoreException e) {
      LOG.warn("cannot renew {} claims yet: {}", due.size(), e.getMessage());
      due.forEach(held -> held.renewAtNanos = now + soonNanos());
    }
  }

  private long soonNanos() {
    return lease.toNanos() / 12;
  }
}
