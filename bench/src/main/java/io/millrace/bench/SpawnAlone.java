package io.millrace.bench;

import io.millrace.bench.Bench.BenchException;
import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** How many processes this JVM starts with {@code posix_spawn} if it does nothing else. */
final class SpawnAlone {
  private static final File NOTHING = new File("/dev/null");

  private SpawnAlone() {}

  /** Starts processes and waits for each, this many at a time, for this long. */
  static double perSecond(List<String> command, int atOnce, Duration time)
      throws InterruptedException {
    long began = System.nanoTime();
    long end = began + time.toNanos();
    int started = 0;
    try (ExecutorService threads = Executors.newFixedThreadPool(atOnce)) {
      List<Future<Integer>> counts = new ArrayList<>();
      for (int i = 0; i < atOnce; i++) {
        counts.add(threads.submit(() -> startUntil(command, end)));
      }
      for (Future<Integer> count : counts) {
        started += count.get();
      }
    } catch (ExecutionException e) {
      throw new BenchException("processes could not be started: " + e.getMessage(), e);
    }
    return started * 1e9 / (System.nanoTime() - began);
  }

  private static int startUntil(List<String> command, long end)
      throws IOException, InterruptedException {
    int started = 0;
    do {
      Process process =
          new ProcessBuilder(command)
              .redirectInput(ProcessBuilder.Redirect.from(NOTHING))
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      process.waitFor();
      started++;
    } while (System.nanoTime() < end);
    return started;
  }
}
