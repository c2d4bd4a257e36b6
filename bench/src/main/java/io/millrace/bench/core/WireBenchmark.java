package io.millrace.bench.core;

import io.millrace.store.Bytes;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.Task;
import io.millrace.store.Transaction;
import io.millrace.wire.DataForm;
import io.millrace.wire.Requests;
import io.millrace.wire.Responses;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
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

/** The JSON of the HTTP API. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class WireBenchmark {
  /** The number of tasks in a request or answer. */
  @Param({"1", "100"})
  public int tasks;

  private byte[] request = new byte[0];
  private Outcome outcome = new Outcome.Done(new Position(1, 1), 1, List.of(), List.of(), false);

  /** Creates the input of the benchmarks. */
  @Setup
  public void prepare() {
    Bytes data = Bytes.of("0123456789abcdef0123456789abcdef");
    Transaction.Builder adds = Transaction.by(Owner.client(1));
    for (int i = 0; i < tasks; i++) {
      adds.add("bench", data);
    }
    request = Requests.write(adds.build());
    Task task =
        new Task(
            1_234_567, 1_234_560, "bench", 1_767_225_600_000L, Owner.client(1), 1_234_567, 1, data);
    outcome =
        new Outcome.Done(
            new Position(1, 1_234_567),
            1_767_225_000_000L,
            Collections.nCopies(tasks, task),
            List.of(),
            false);
  }

  /** Reads a transaction that adds tasks. */
  @Benchmark
  public Transaction readTransaction() {
    return Requests.readTransaction(request, Owner.ANYONE);
  }

  /** Writes the answer of a claim. */
  @Benchmark
  public byte[] writeOutcome() {
    return Responses.write(outcome, DataForm.TEXT);
  }
}
