package io.millrace.bench;

import com.sun.management.UnixOperatingSystemMXBean;
import io.millrace.store.Journaling;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;

/** The memory of a server with thousands of connected workers that have nothing to do. */
final class IdleWorkers implements Scenario {
  private static final int WORKERS = 5_000;
  private static final int OTHER_FILES = 100;
  private static final double TARGET_MIB = 1_024;
  private static final double MIB = 1 << 20;

  /** Each worker has been pinged twice by then. */
  private static final Duration IDLE = Duration.ofSeconds(45);

  @Override
  public String name() {
    return "jobs-idle";
  }

  @Override
  public String what() {
    return "the memory of a server with " + WORKERS + " connected workers";
  }

  @Override
  public void run(Setting setting) throws IOException {
    int workers = Math.max(1, WORKERS / setting.scale());
    if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
        && system.getMaxFileDescriptorCount() < workers + OTHER_FILES) {
      setting.report().say(name(), "left out: a process may open too few files, see ulimit -n");
      return;
    }
    Path folder = setting.newFolder("jobs");
    try (Child child = Child.store(setting, folder, Journaling.STRICT)) {
      long before = child.residentBytes();
      long began = System.nanoTime();
      try (JobsLoad load = JobsLoad.connect(child.port(), workers, 1)) {
        double seconds = (System.nanoTime() - began) / 1e9;
        report(setting, "connections of workers opened", workers / seconds, "workers/s");
        load.idle(setting.scale() == 1 ? IDLE : setting.time());
        double after = child.residentBytes() / MIB;
        report(setting, "resident memory before", before / MIB, "MiB");
        setting
            .report()
            .add(
                Figure.of(name(), "resident memory with " + workers + " idle workers", after, "MiB")
                    .withTarget("≤ 1,024 MiB", after <= TARGET_MIB));
        Load jobs = load.run(setting.time(), new JobsLoad.Pace(1, Duration.ofMillis(10)));
        setting
            .report()
            .add(
                Figure.of(
                        name(),
                        "from submission to a worker beside them",
                        jobs.micros(50) / 1_000,
                        "ms")
                    .withLatency(jobs.micros(50), jobs.micros(99)));
      }
    } finally {
      Setting.delete(folder);
    }
  }

  private void report(Setting setting, String what, double value, String unit) {
    setting.report().add(Figure.of(name(), what, value, unit));
  }
}
