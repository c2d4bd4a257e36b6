package io.millrace.bench;

import io.millrace.store.Owner;
import io.millrace.store.TaskStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.HdrHistogram.Histogram;

/**
 * Callers in this process, each a virtual thread that keeps some commands outstanding.
 *
 * @param callers how many
 * @param outstanding commands that each has under way at a time
 * @param measure what the latencies are those of
 */
record InProcessLoad(int callers, int outstanding, Measure measure) {
  /** What a latency is the time of. */
  enum Measure {
    LIFECYCLES,
    ANSWERS
  }

  static InProcessLoad of(int callers, int outstanding) {
    return new InProcessLoad(callers, outstanding, Measure.LIFECYCLES);
  }

  @Override
  public String toString() {
    return callers + (callers == 1 ? " caller × " : " callers × ") + outstanding + " outstanding";
  }

  /** Runs lifecycles for about {@code time} after warming up; none is left half done. */
  Load run(TaskStore store, Duration time) throws InterruptedException {
    return run(store, Load.Window.after(time));
  }

  /** Runs lifecycles until the window ends; none is left half done. */
  Load run(TaskStore store, Load.Window window) throws InterruptedException {
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Load>> parts = new ArrayList<>();
      for (int i = 0; i < callers; i++) {
        Owner client = Owner.client(i + 1);
        parts.add(executor.submit(() -> call(store, client, window)));
      }
      Histogram latency = Load.histogram();
      long count = 0;
      for (Future<Load> part : parts) {
        count += part.get().count();
        latency.add(part.get().latency());
      }
      return new Load(count, window.nanos(), latency);
    } catch (ExecutionException e) {
      throw new BenchException("a caller failed: " + e.getCause(), e);
    }
  }

  private Load call(TaskStore store, Owner client, Load.Window window) {
    Lifecycle[] places = new Lifecycle[outstanding];
    for (int i = 0; i < outstanding; i++) {
      places[i] = new Lifecycle(store, client);
      places[i].ask();
    }
    Histogram latency = Load.histogram();
    long count = 0;
    int active = outstanding;
    while (active > 0) {
      for (Lifecycle place : places) {
        if (place.isIdle()) {
          continue;
        }
        boolean ended = place.awaitAnswer();
        if (ended || measure == Measure.ANSWERS) {
          long now = System.nanoTime();
          boolean within = now >= window.from() && now < window.until();
          if (within) {
            count += ended ? 1 : 0;
            latency.recordValue(
                now - (measure == Measure.ANSWERS ? place.askedNanos() : place.beganNanos()));
          }
          if (ended && now >= window.until()) {
            active--;
            continue;
          }
        }
        place.ask();
      }
    }
    return new Load(count, window.nanos(), latency);
  }
}
