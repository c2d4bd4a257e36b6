package io.millrace.client;

import io.millrace.store.Outcome;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Owner;
import io.millrace.store.StoreException;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.work.LeaseKeeper;
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
 * Renews claims, each after a third of its lease. One transaction renews all claims that are due.
 * Step-driven; tasks may be added and removed at any time.
 */
final class LeaseRenewals {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseRenewals.class);

  private final TaskStore store;
  private final Owner client;
  private final Duration lease;
  private final LongSupplier nanos;
  private final Set<ClaimedTask> all = ConcurrentHashMap.newKeySet();

  /** With a monotonic clock in nanoseconds. */
  LeaseRenewals(TaskStore store, Owner client, Duration lease, LongSupplier nanos) {
    this.store = store;
    this.client = client;
    this.lease = lease;
    this.nanos = nanos;
  }

  /** Adds a task that was just claimed. */
  ClaimedTask hold(Task task) {
    ClaimedTask work = new ClaimedTask(task);
    work.renewed(task, nanos.getAsLong(), lease);
    all.add(work);
    return work;
  }

  /** Removes a task that has ended. */
  void drop(ClaimedTask work) {
    all.remove(work);
  }

  /** The tasks that are held now. */
  List<ClaimedTask> held() {
    return List.copyOf(all);
  }

  /** Renews the claims that are due at {@code now} and returns when to step again. */
  long step(long now) {
    List<ClaimedTask> locked = new ArrayList<>();
    for (ClaimedTask work : all) {
      if (!work.over && work.renewAtNanos - now <= 0 && work.lock.tryLock()) {
        locked.add(work);
      }
    }
    try {
      List<ClaimedTask> due = locked.stream().filter(work -> !ended(work, now)).toList();
      if (!due.isEmpty()) {
        renew(due, now);
      }
    } finally {
      locked.forEach(work -> work.lock.unlock());
    }
    long next = now + LeaseKeeper.renewAfter(lease).toNanos();
    for (ClaimedTask work : all) {
      // A task that is being completed is not renewed, however long that takes.
      if (!work.over && work.renewAtNanos - now > 0) {
        next = Math.min(next - now, work.renewAtNanos - now) + now;
      }
    }
    return next;
  }

  private static boolean ended(ClaimedTask work, long now) {
    if (work.over) {
      return true;
    }
    if (work.leaseEndNanos - now <= 0) {
      LOG.warn("the lease of {} ended before it could be renewed", work.ref);
      work.lose();
      return true;
    }
    return false;
  }

  private void renew(List<ClaimedTask> due, long now) {
    Transaction.Builder renewals = Transaction.by(client);
    due.forEach(work -> renewals.renew(work.ref, lease));
    try {
      switch (store.commit(renewals.build())) {
        case Outcome.Done done -> {
          for (int i = 0; i < due.size(); i++) {
            due.get(i).renewed(done.tasks().get(i), now, lease);
          }
        }
        case Outcome.Refused refused -> refused(due, refused, now);
      }
    } catch (OutcomeUnknownException e) {
      LOG.debug("looking up claims after a renewal with an unknown outcome: {}", e.getMessage());
      find(due, now);
    } catch (StoreException e) {
      LOG.warn("cannot renew {} claims yet: {}", due.size(), e.getMessage());
      tryLater(due, now);
    }
  }

  /** Drops the lost claims and renews the others at once. If none is lost, retries later. */
  private void refused(List<ClaimedTask> due, Outcome.Refused refused, long now) {
    boolean lost = false;
    for (ClaimedTask work : due) {
      if (work.isNamed(refused)) {
        LOG.warn("the claim of {} is lost", work.ref);
        work.lose();
        lost = true;
      }
    }
    List<ClaimedTask> left = due.stream().filter(work -> !work.over).toList();
    if (lost && !left.isEmpty()) {
      renew(left, now);
    } else {
      tryLater(left, now);
    }
  }

  /** Reads the tasks to determine whether a renewal with an unknown outcome was committed. */
  private void find(List<ClaimedTask> due, long now) {
    try {
      List<TaskRef> origins = due.stream().map(work -> TaskRef.origin(work.ref.origin())).toList();
      List<Optional<Task>> found = store.tasks(origins).value();
      for (int i = 0; i < due.size(); i++) {
        ClaimedTask work = due.get(i);
        Optional<Task> task = found.get(i);
        if (task.isPresent() && work.isStill(task.get())) {
          work.found(task.get());
          tryLater(List.of(work), now);
        } else {
          work.lose();
        }
      }
    } catch (StoreException e) {
      LOG.warn("cannot renew {} claims yet: {}", due.size(), e.getMessage());
      tryLater(due, now);
    }
  }

  private void tryLater(List<ClaimedTask> due, long now) {
    long again = now + LeaseKeeper.retryAfter(lease).toNanos();
    due.forEach(work -> work.renewAtNanos = again);
  }
}
