package io.millrace.client;

import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A claimed task. Its lock is held by whoever changes it in the store, so that a renewal and the
 * end never pass each other; the fields are guarded by it, {@link #over} and the times apart.
 */
final class Held {
  final ReentrantLock lock = new ReentrantLock();
  final Work work;

  /** What the store calls it now; a renewal changes it. */
  TaskRef ref;

  /** When the claim ends unless it is renewed, by the local clock. */
  volatile long leaseEndNanos;

  /** When to renew it. */
  volatile long renewAtNanos;

  /** Whether it has ended or is lost, so that nothing may change it any more. */
  volatile boolean over;

  Held(Work work) {
    this.work = work;
    ref = ref(work.task());
  }

  private static TaskRef ref(Task task) {
    return new TaskRef(task.id(), task.origin());
  }

  /** The task is held until a lease after {@code nanos}. */
  void leased(Task task, long nanos, long leaseNanos) {
    ref = ref(task);
    leaseEndNanos = nanos + leaseNanos;
    renewAtNanos = nanos + leaseNanos / 3;
  }

  /** Whether a task in the store is this one, under the same claim. */
  boolean isStill(Task task) {
    return task.origin() == ref.origin() && task.token() == work.fencingToken();
  }

  /** The store says that it is held no more, or time does. */
  void lose() {
    over = true;
    work.cancel();
  }
}
