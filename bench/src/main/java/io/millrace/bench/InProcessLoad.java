package io.millrace.bench;

import io.millrace.bench.Bench.BenchException;
import io.millrace.bench.Measurement.Load;
import io.millrace.store.Claim;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Callers in this process, each a virtual thread that keeps some commands outstanding.
 *
 * @param callers how many
 * @param outstanding commands that each has under way at a time
 * @param measure what the latencies are those of
 */
record InProcessLoad(int callers, int outstanding, LatencyKind measure) {
  /** What a latency measures. */
  enum LatencyKind {
    LIFECYCLES,
    ANSWERS
  }

  static InProcessLoad of(int callers, int outstanding) {
    return new InProcessLoad(callers, outstanding, LatencyKind.LIFECYCLES);
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
    return Load.ofCallers(
        callers, window, caller -> () -> call(store, Owner.client(caller + 1), window));
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
        if (ended || measure == LatencyKind.ANSWERS) {
          long now = System.nanoTime();
          boolean within = now >= window.from() && now < window.until();
          if (within) {
            count += ended ? 1 : 0;
            latency.recordValue(
                now - (measure == LatencyKind.ANSWERS ? place.askedNanos() : place.beganNanos()));
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

  /**
   * Lifecycles without waiting threads: the continuation of each answer gives the next command.
   *
   * @param chains how many are under way at a time
   */
  record ChainLoad(int chains) {
    @Override
    public String toString() {
      return chains + " chains";
    }

    /** Runs lifecycles for about {@code time} after warming up; none is left half done. */
    Load run(TaskStore store, Duration time) {
      Load.Window window = Load.Window.after(time);
      ChainTotals measured = new ChainTotals(window);
      List<CompletableFuture<Void>> ends = new ArrayList<>();
      for (int i = 0; i < chains; i++) {
        Chain chain = new Chain(store, Owner.client(i + 1), measured);
        chain.begin();
        ends.add(chain.end);
      }
      try {
        CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new)).join();
      } catch (CompletionException e) {
        throw new BenchException("a chain failed: " + e.getCause(), e);
      }
      return new Load(measured.count.sum(), window.nanos(), measured.latency);
    }

    /** The totals of all chains. Updated by the store's thread and others. */
    private static final class ChainTotals {
      final Load.Window window;
      final LongAdder count = new LongAdder();
      final ConcurrentHistogram latency = new ConcurrentHistogram(60_000_000_000L, 3);

      ChainTotals(Load.Window window) {
        this.window = window;
      }

      /** Notes a lifecycle that ended now; tells whether there is time for another. */
      boolean ended(long beganNanos) {
        long now = System.nanoTime();
        if (now >= window.from() && now < window.until()) {
          count.increment();
          latency.recordValue(now - beganNanos);
        }
        return now < window.until();
      }
    }

    private static final class Chain {
      final CompletableFuture<Void> end = new CompletableFuture<>();
      private final TaskStore store;
      private final Owner client;
      private final ChainTotals measured;
      private final Transaction add;
      private final Claim claim;
      private long beganNanos;

      Chain(TaskStore store, Owner client, ChainTotals measured) {
        this.store = store;
        this.client = client;
        this.measured = measured;
        this.add = Transaction.by(client).add(Lifecycle.GROUP, Lifecycle.DATA).build();
        this.claim = Claim.of(client, Lifecycle.GROUP, Duration.ofMinutes(10));
      }

      void begin() {
        beganNanos = System.nanoTime();
        var _ =
            store
                .submit(add)
                .thenCompose(_ -> store.submit(claim))
                .thenCompose(claimed -> store.submit(deletion(claimed)))
                .whenComplete((_, thrown) -> goOn(thrown));
      }

      private Transaction deletion(Outcome claimed) {
        return Transaction.by(client).delete(claimed.done().tasks().getFirst().ref()).build();
      }

      private void goOn(@Nullable Throwable thrown) {
        if (thrown != null) {
          end.completeExceptionally(thrown);
        } else if (measured.ended(beganNanos)) {
          begin();
        } else {
          end.complete(null);
        }
      }
    }
  }
}
