package io.millrace.jobs.worker;

import io.millrace.jobs.WorkerId;
import io.millrace.jobs.worker.WorkerView.Tally;
import java.util.HashMap;
import java.util.Map;

/**
 * What workers have done, by their own ids: in memory, and in the store with a delay of some
 * seconds. Safe for use by any number of threads.
 */
final class Tallies {
  private final TallyBook book;
  private final Map<WorkerId, Tally> known = new HashMap<>();
  private final Map<WorkerId, Tally> unsaved = new HashMap<>();

  Tallies(TallyBook book) {
    this.book = book;
  }

  /** Makes a worker's tally known; reads the store, so not to be called under a lock. */
  void load(WorkerId worker) {
    synchronized (this) {
      if (known.containsKey(worker)) {
        return;
      }
    }
    Tally stored = book.read(worker).orElse(Tally.NONE);
    synchronized (this) {
      known.putIfAbsent(worker, stored);
    }
  }

  synchronized Tally of(WorkerId worker) {
    return known.getOrDefault(worker, Tally.NONE);
  }

  synchronized void count(WorkerId worker, Tally more) {
    Tally next = of(worker).plus(more);
    known.put(worker, next);
    unsaved.put(worker, next);
  }

  /** Stores what has changed; what cannot be stored now is kept for the next time. */
  void save() {
    Map<WorkerId, Tally> changed;
    synchronized (this) {
      changed = Map.copyOf(unsaved);
      unsaved.clear();
    }
    if (changed.isEmpty()) {
      return;
    }
    try {
      book.write(changed);
    } catch (RuntimeException e) {
      synchronized (this) {
        changed.forEach(unsaved::putIfAbsent);
      }
      throw e;
    }
  }
}
