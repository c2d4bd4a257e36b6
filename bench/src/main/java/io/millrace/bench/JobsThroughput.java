package io.millrace.bench;

import com.sun.management.UnixOperatingSystemMXBean;
import io.millrace.bench.Measurement.Load;
import io.millrace.store.StoreOptions.Journaling;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;

/** Small jobs from their submission over HTTP to their result, with workers on WebSockets. */
final class JobsThroughput extends Scenario {
  private static final int WORKERS = 50;
  private static final int CLIENTS = 32;
  private static final double TARGET = 5_000;
  private static final double TARGET_MICROS = 2_000;

  /** A job passes through much code, and the compilers get only half a core beside the load. */
  private static final Duration LONGEST_FIRST = Duration.ofSeconds(40);

  /** So many that each worker has a job and the next ones are waiting. */
  private static final JobsLoad.Pace FULL = new JobsLoad.Pace(4 * WORKERS, Duration.ZERO);

  private static final JobsLoad.Pace IDLE = new JobsLoad.Pace(1, Duration.ofMillis(10));

  JobsThroughput() {
    super("jobs", "small jobs through " + WORKERS + " workers on WebSockets, submitted over HTTP");
  }

  @Override
  void run(Context context) throws IOException {
    Path folder = context.newFolder("jobs");
    try (ServerProcess child = ServerProcess.store(context, folder, Journaling.STRICT);
        JobsLoad load = JobsLoad.connect(child.port(), WORKERS, CLIENTS)) {
      warmUp(context, child, load);
      full(context, child, load);
      idle(context, load);
    }
  }

  /** The first load of a JVM; after it, the compilers have little left to do. */
  private static void warmUp(Context context, ServerProcess child, JobsLoad load)
      throws IOException {
    if (child.isFirstLoad()) {
      Duration first = context.time().multipliedBy(8);
      load.run(first.compareTo(LONGEST_FIRST) < 0 ? first : LONGEST_FIRST, FULL);
    }
  }

  private void full(Context context, ServerProcess child, JobsLoad jobs) throws IOException {
    long began = System.nanoTime();
    long cpu = child.cpu().toNanos();
    Load load = jobs.run(context.time(), FULL);
    double cores = (child.cpu().toNanos() - cpu) / (double) (System.nanoTime() - began);
    context.add(
        Measurement.of(
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

  private void idle(Context context, JobsLoad jobs) throws IOException {
    Load load = jobs.run(context.time(), IDLE);
    context.add(
        Measurement.of(
                name(),
                "strict, one job at a time: from submission to its worker",
                load.micros(50) / 1_000,
                "ms")
            .withLatency(load.micros(50), load.micros(99))
            .withTarget("p50 < 2 ms", load.micros(50) < TARGET_MICROS));
  }

  /** The memory of a server with thousands of connected workers that are idle. */
  static final class IdleWorkers extends Scenario {
    private static final int WORKERS = 5_000;
    private static final int OTHER_FILES = 100;
    private static final double TARGET_MIB = 1_024;
    private static final double MIB = 1 << 20;

    /** Each worker has been pinged twice by then. */
    private static final Duration IDLE = Duration.ofSeconds(45);

    IdleWorkers() {
      super("jobs-idle", "the memory of a server with " + WORKERS + " connected workers");
    }

    @Override
    void run(Context context) throws IOException {
      int workers = Math.max(1, WORKERS / context.scale());
      if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
          && system.getMaxFileDescriptorCount() < workers + OTHER_FILES) {
        context.say(name(), "left out: a process may open too few files, see ulimit -n");
        return;
      }
      Path folder = context.newFolder("jobs");
      try (ServerProcess child = ServerProcess.store(context, folder, Journaling.STRICT)) {
        long before = child.residentBytes();
        long began = System.nanoTime();
        try (JobsLoad load = JobsLoad.connect(child.port(), workers, 1)) {
          double seconds = (System.nanoTime() - began) / 1e9;
          report(context, "connections of workers opened", workers / seconds, "workers/s");
          load.idle(context.scale() == 1 ? IDLE : context.time());
          double after = child.residentBytes() / MIB;
          report(context, "resident memory before", before / MIB, "MiB");
          context.add(
              Measurement.of(
                      name(), "resident memory with " + workers + " idle workers", after, "MiB")
                  .withTarget("≤ 1,024 MiB", after <= TARGET_MIB));
          Load jobs = load.run(context.time(), new JobsLoad.Pace(1, Duration.ofMillis(10)));
          context.add(
              Measurement.of(
                      name(),
                      "from submission to a worker beside them",
                      jobs.micros(50) / 1_000,
                      "ms")
                  .withLatency(jobs.micros(50), jobs.micros(99)));
        }
      }
    }

    private void report(Context context, String what, double value, String unit) {
      context.add(Measurement.of(name(), what, value, unit));
    }
  }
}
