package io.millrace.bench.core;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** The whole kernel on one thread: it decides, records, applies and answers. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class CoreBenchmark {
  private static final Owner CLIENT = Owner.client(1);
  private static final String GROUP = "bench";

  /** The number of waiting tasks. */
  @Param({"0", "1000000"})
  public int tasks;

  private @Nullable EmbeddedTaskStore store;
  private final Transaction add = Transaction.by(CLIENT).add(GROUP, data()).build();
  private final Claim claim = Claim.of(CLIENT, GROUP, Duration.ofMinutes(1));

  private static Bytes data() {
    return Bytes.of("0123456789abcdef0123456789abcdef");
  }

  /** Fills the store. */
  @Setup
  public void fill() {
    StoreOptions options =
        StoreOptions.in(Path.of("nowhere"))
            .withEnvironment(new CallerThreadEnvironment())
            .withLimits(Limits.defaults().withMemoryBytes(Long.MAX_VALUE))
            .withSnapshotEvery(Long.MAX_VALUE);
    EmbeddedTaskStore filled = TaskStore.open(options, new DiscardingJournal());
    store = filled;
    // One more than requested, so that reads and claims find a task.
    for (int i = 0; i <= tasks; i++) {
      done(filled.submit(Transaction.by(CLIENT).add(GROUP, data()).build()));
    }
  }

  private static Outcome.Done done(CompletableFuture<Outcome> answer) {
    return answer.join().done();
  }

  private EmbeddedTaskStore store() {
    EmbeddedTaskStore filled = store;
    if (filled == null) {
      throw new IllegalStateException("not filled");
    }
    return filled;
  }

  /** Adds a task, claims any task, deletes it. */
  @Benchmark
  public Outcome lifecycle() {
    done(store().submit(add));
    return claimAndDelete(claim);
  }

  /** The same, claiming the oldest task. */
  @Benchmark
  public Outcome lifecycleOfTheOldest() {
    done(store().submit(add));
    return claimAndDelete(claim.withOrder(Claim.Order.OLDEST));
  }

  private Outcome claimAndDelete(Claim asked) {
    Task task = done(store().submit(asked)).tasks().getFirst();
    return done(store().submit(Transaction.by(CLIENT).delete(task.ref()).build()));
  }

  /** Claims any task and releases it. */
  @Benchmark
  public Outcome claimAndRelease() {
    Task task = done(store().submit(claim)).tasks().getFirst();
    return done(store().submit(Transaction.by(CLIENT).release(task.ref()).build()));
  }

  /** Reads a task that does not exist. */
  @Benchmark
  public Optional<Task> read() {
    return store().task(TaskRef.id(Limits.LARGEST_NUMBER)).value();
  }
}
