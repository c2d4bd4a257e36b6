package io.millrace.bench;

import java.io.IOException;
import java.util.List;

/** A group of measurements that belong together. */
interface Scenario {
  /** By which it is selected. */
  String name();

  /** What it measures, in a line. */
  String what();

  /** Measures, and reports each figure. */
  void run(Setting setting) throws IOException, InterruptedException;

  /** All there are, in the order in which they run. */
  static List<Scenario> all() {
    return List.of(
        new InProcess(),
        new OverHttp(),
        new HttpBatches(),
        new JavaClient(),
        new QueuesCreate(),
        new QueuesRun(),
        new QueuesIdle(),
        new GraphRun(),
        new JobsThroughput(),
        new IdleWorkers(),
        new DuringSnapshot(),
        new Backlog("backlog-1m", 1_000_000),
        new Backlog("backlog-10m", 10_000_000));
  }
}
