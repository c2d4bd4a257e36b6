package io.millrace.bench;

import io.millrace.store.Journaling;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;

/** Small jobs from their submission over HTTP to their result, through workers on WebSockets. */
final class JobsThroughput implements Scenario {
  private static final int WORKERS = 50;
  private static final int CLIENTS = 32;
  private static final double TARGET = 5_000;
  private static final double TARGET_MICROS = 2_000;

  /** A job's way through the server is long, and the compilers have half a core beside the load. */
  private static final Duration LONGEST_FIRST = Duration.ofSeconds(40);

  /** Enough that each worker has a job and the next ones wait already. */
  private static final JobsLoad.Pace FULL = new JobsLoad.Pace(4 * WORKERS, Duration.ZERO);

  private static final JobsLoad.Pace IDLE = new JobsLoad.Pace(1, Duration.ofMillis(10));

  @Override
  public String name() {
    return "jobs";
  }

  @Override
  public String what() {
    return "small jobs through " + WORKERS + " workers on WebSockets, submitted over HTTP";
  }

  @Override
  public void run(Setting setting) throws IOException {
    Path folder = setting.newFolder("jobs");
    try (Child child = Child.store(setting, folder, Journaling.STRICT);
        JobsLoad load = JobsLoad.connect(child.port(), WORKERS, CLIENTS)) {
      warmUp(setting, child, load);
      full(setting, child, load);
      idle(setting, load);
    } finally {
      Setting.delete(folder);
    }
  }

  /** A first load of a JVM, behind which the compilers have little left to do. */
  private static void warmUp(Setting setting, Child child, JobsLoad load) throws IOException {
    if (child.isFirstLoad()) {
      Duration first = setting.time().multipliedBy(8);
      load.run(first.compareTo(LONGEST_FIRST) < 0 ? first : LONGEST_FIRST, FULL);
    }
  }

  private void full(Setting setting, Child child, JobsLoad jobs) throws IOException {
    long began = System.nanoTime();
    long cpu = child.cpu().toNanos();
    Load load = jobs.run(setting.time(), FULL);
    double cores = (child.cpu().toNanos() - cpu) / (double) (System.nanoTime() - began);
    setting
        .report()
        .add(
            Figure.of(
                    name(),
                    String.format(
                        Locale.ROOT,
                        "strict, %d workers, %d clients (cores: server %.2f)",
                        WORKERS,
                        CLIENTS,
                        cores),
                    load.perSecond(),
                    "jobs/s")
                .withLatency(load.micros(50), load.micros(99))
                .withTarget("≥ 5,000", load.perSecond() >= TARGET));
  }

  private void idle(Setting setting, JobsLoad jobs) throws IOException {
    Load load = jobs.run(setting.time(), IDLE);
    setting
        .report()
        .add(
            Figure.of(
                    name(),
                    "strict, one job at a time: from submission to its worker",
                    load.micros(50) / 1_000,
                    "ms")
                .withLatency(load.micros(50), load.micros(99))
                .withTarget("p50 < 2 ms", load.micros(50) < TARGET_MICROS));
  }
}
