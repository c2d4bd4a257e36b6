package io.millrace.client;

import java.util.ArrayList;
import java.util.List;

/** A flag that says whether work is cancelled, with listeners. Thread-safe. */
public final class Cancellation {
  private final List<Runnable> listeners = new ArrayList<>();
  private boolean cancelled;

  /** Not cancelled. */
  public Cancellation() {}

  /** Whether the work was cancelled. */
  public synchronized boolean isCancelled() {
    return cancelled;
  }

  /** Runs {@code listener} when the work is cancelled; at once if it already is. */
  public void onCancel(Runnable listener) {
    synchronized (this) {
      if (!cancelled) {
        listeners.add(listener);
        return;
      }
    }
    listener.run();
  }

  /** Cancels the work and runs the listeners on this thread. Later calls do nothing. */
  public void cancel() {
    List<Runnable> toRun;
    synchronized (this) {
      if (cancelled) {
        return;
      }
      cancelled = true;
      toRun = List.copyOf(listeners);
    }
    toRun.forEach(Runnable::run);
  }
}
