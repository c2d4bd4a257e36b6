package io.millrace.client;

import java.util.ArrayList;
import java.util.List;

/** Whether some work is in vain, and who wants to hear of it. Safe for use by threads. */
public final class Cancellation {
  private final List<Runnable> listeners = new ArrayList<>();
  private boolean cancelled;

  /** Of work that is not. */
  public Cancellation() {}

  /** Whether it is. */
  public synchronized boolean isCancelled() {
    return cancelled;
  }

  /** Runs {@code listener} when the work is cancelled; at once where it is already. */
  public void onCancel(Runnable listener) {
    synchronized (this) {
      if (!cancelled) {
        listeners.add(listener);
        return;
      }
    }
    listener.run();
  }

  /** Cancels it, and runs what was waiting for that on this thread; later calls do nothing. */
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
