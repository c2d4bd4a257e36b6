package io.millrace.client;

import io.millrace.store.Task;

/** A task that is held for a handler. Safe for use by threads. */
public final class Work {
  private final Task task;
  private final Cancellation cancellation = new Cancellation();

  Work(Task task) {
    this.task = task;
  }

  /** The task as it was when it was claimed; renewals change its id, not its data. */
  public Task task() {
    return task;
  }

  /**
   * The fencing token: larger than that of every earlier holder of the task. Hand it to whatever
   * the work changes outside of the store, which should refuse smaller ones.
   */
  public long fencingToken() {
    return task.token();
  }

  /** Whether the claim is lost, or the worker stops: the work is in vain. */
  public boolean isCancelled() {
    return cancellation.isCancelled();
  }

  /** Runs {@code listener} when the work is cancelled; at once where it is already. */
  public void onCancel(Runnable listener) {
    cancellation.onCancel(listener);
  }

  void cancel() {
    cancellation.cancel();
  }
}
