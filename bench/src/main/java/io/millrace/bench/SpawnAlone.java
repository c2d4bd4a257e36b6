package io.millrace.bench;

import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** How many processes this JVM starts with {@code posix_spawn} when it does nothing else. */
final class SpawnAlone {
  private static final List<String> COMMAND = List.of("/bin/true");
  private static final File NOTHING = new File("/dev/null");

  private SpawnAlone() {}

  /** Starts processes and waits for each, so many at a time, for so long. */
  static double perSecond(int atOnce, Duration time) throws InterruptedException {
    long began = System.nanoTime();
    long end = began + time.toNanos();
    int started = 0;
    try (ExecutorService threads = Executors.newFixedThreadPool(atOnce)) {
      List<Future<Integer>> counts = new ArrayList<>();
      for (int i = 0; i < atOnce; i++) {
        counts.add(threads.submit(() -> startUntil(end)));
      }
      for (Future<Integer> count : counts) {
        started += count.get();
      }
    } catch (ExecutionException e) {
      throw new BenchException("processes could not be started: " + e.getMessage(), e);
    }
    return started * 1e9 / (System.nanoTime() - began);
  }

  private static int startUntil(long end) throws IOException, InterruptedException {
    int started = 0;
    do {
      Process process =
          new ProcessBuilder(COMMAND)
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
