package io.millrace.bench.core;

import java.util.SplittableRandom;
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

/**
 * What a read costs whose address is the result of the one before, at random within so much memory:
 * the least that each step to a random one of many tasks takes. It tells how many such steps a
 * store with many tasks can afford.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "-Xmx4g")
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 5, time = 1)
public class MemoryBenchmark {
  /** A line of the caches. */
  private static final int LINE_BYTES = 64;

  private static final int STEP = LINE_BYTES / Integer.BYTES;

  /** The memory that the reads go to. */
  @Param({"1", "64", "1024"})
  public int mebibytes;

  private int[] next = new int[0];
  private int line;

  /** Links all lines in one circle, in random order. */
  @Setup
  public void link() {
    int lines = (mebibytes << 20) / LINE_BYTES;
    next = new int[lines * STEP];
    int[] order = new int[lines];
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < lines; i++) {
      int other = random.nextInt(i + 1);
      order[i] = order[other];
      order[other] = i;
    }
    for (int i = 0; i < lines; i++) {
      next[order[i] * STEP] = order[(i + 1) % lines] * STEP;
    }
  }

  /** One step of the circle. */
  @Benchmark
  public int dependentRead() {
    line = next[line];
    return line;
  }
}
