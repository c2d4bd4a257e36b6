package io.millrace.bench;

import io.millrace.bench.Bench.Report;
import io.millrace.bench.QueuesRun.QueuesCreate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A group of measurements that belong together. */
abstract class Scenario {
  private final String name;
  private final String what;

  /**
   * A scenario.
   *
   * @param name its name on the command line
   * @param what what it measures, in one line
   */
  Scenario(String name, String what) {
    this.name = name;
    this.what = what;
  }

  final String name() {
    return name;
  }

  final String what() {
    return what;
  }

  /** Measures, and reports each measurement. */
  abstract void run(Context context) throws IOException, InterruptedException;

  /** All scenarios, in the order in which they run. */
  static List<Scenario> all() {
    return List.of(
        new EmbeddedThroughput(),
        new HttpThroughput(),
        new HttpThroughput.HttpBatches(),
        new HttpThroughput.JavaClient(),
        new QueuesCreate(),
        new QueuesRun(),
        new QueuesIdle(),
        new GraphRun(),
        new JobsThroughput(),
        new JobsThroughput.IdleWorkers(),
        new ArchiveRun(),
        new SnapshotLatency(),
        new LimitsThroughput(),
        new StoresLatency(),
        new StoresLatency.OverHttp(),
        new Takeovers(),
        new Shards(),
        new Backlog("backlog-1m", 1_000_000),
        new Backlog("backlog-10m", 10_000_000));
  }

  /**
   * What a scenario works with.
   *
   * @param time how long to measure each thing
   * @param folder for the files of the scenario; it is deleted afterwards
   * @param report takes the figures
   * @param serverArguments arguments for the JVM of the servers that it starts
   * @param scale divides the number of waiting tasks; 1 except in tests
   * @param items how many jobs to send through the server; 0 for a number of runs instead
   * @param stores the addresses of databases to measure
   */
  record Context(
      Duration time,
      Path folder,
      Report report,
      List<String> serverArguments,
      int scale,
      long items,
      List<String> stores) {
    /** The same with another time for each thing. */
    Context withTime(Duration other) {
      return new Context(other, folder, report, serverArguments, scale, items, stores);
    }

    /** A new folder within that of the scenario. */
    Path newFolder(String name) throws IOException {
      return Files.createTempDirectory(folder, name);
    }

    void add(Measurement measurement) {
      report.add(measurement);
    }

    void say(String scenario, String words) {
      report.say(scenario, words);
    }

    static void delete(Path folder) throws IOException {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }
}
