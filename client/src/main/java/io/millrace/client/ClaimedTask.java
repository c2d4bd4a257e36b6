package io.millrace.client;

import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.work.LeaseKeeper;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A claimed task that a handler works on. Thread-safe. */
public final class ClaimedTask {
  private final Task task;
  private final Cancellation cancellation = new Cancellation();

  /**
   * Held while a thread changes the task in the store, so that a renewal never overlaps with the
   * completion.
   */
  final ReentrantLock lock = new ReentrantLock();

  /** The current reference to the task. Each renewal changes it. Guarded by {@link #lock}. */
  TaskRef ref;

  /** When the claim ends unless it is renewed, by the local monotonic clock. */
  volatile long leaseEndNanos;

  /** When to renew it. */
  volatile long renewAtNanos;

  /** Whether the claim has ended or is lost. The task must not be changed any more then. */
  volatile boolean over;

  ClaimedTask(Task task) {
    this.task = task;
    ref = ref(task);
  }

  /** The task as it was when it was claimed; renewals change its id, not its data. */
  public Task task() {
    return task;
  }

  /**
   * The fencing token: larger than that of every earlier owner of the task. Pass it to every system
   * that the work changes outside the store; such a system should reject smaller tokens.
   */
  public long fencingToken() {
    return task.token();
  }

  /** Whether the claim is lost or the worker is stopping. The result is not used then. */
  public boolean isCancelled() {
    return cancellation.isCancelled();
  }

  /** Runs {@code listener} when the work is cancelled; at once if it already is. */
  public void onCancel(Runnable listener) {
    cancellation.onCancel(listener);
  }

  void cancel() {
    cancellation.cancel();
  }

  /** Records a claim or a renewal at {@code nanos}. */
  void renewed(Task renewed, long nanos, Duration lease) {
    found(renewed);
    leaseEndNanos = nanos + lease.toNanos();
    renewAtNanos = nanos + LeaseKeeper.renewAfter(lease).toNanos();
  }

  /** Records the task as read from the store. */
  void found(Task stored) {
    ref = ref(stored);
  }

  private static TaskRef ref(Task task) {
    return new TaskRef(task.id(), task.origin());
  }

  /** Whether a task from the store is this task, under the same claim. */
  boolean isStill(Task stored) {
    return stored.origin() == ref.origin() && stored.token() == fencingToken();
  }

  /** Whether a refusal is about this task, by id or by origin. */
  boolean isNamed(Outcome.Refused refused) {
    return refused.reasons().stream().map(Reason::task).anyMatch(this::isNamed);
  }

  private boolean isNamed(@Nullable TaskRef named) {
    return named != null
        && ((named.id() != 0 && named.id() == ref.id())
            || (named.origin() != 0 && named.origin() == ref.origin()));
  }

  /** Marks the claim as lost, according to the store or the clock. */
  void lose() {
    over = true;
    cancel();
  }
}
