package io.millrace.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.Locale;
import java.util.function.IntFunction;

/**
 * A server and the load that was put on it.
 *
 * @param load what was done
 * @param generatorCores the cores that driving the load took
 * @param serverCores the cores that the server took
 */
record Driven(Load load, double generatorCores, double serverCores) {
  private static final Duration LONGEST_FIRST = Duration.ofSeconds(10);

  /**
   * Drives a server over so many connections, after warming up: longer where it is a JVM's first
   * load, since code is compiled for half a minute and users have servers that have run for longer.
   */
  static Driven run(
      Setting setting, Child child, int connections, IntFunction<Conversation> conversations)
      throws IOException {
    if (child.isFirstLoad()) {
      Duration twice = setting.time().multipliedBy(2);
      Duration first = twice.compareTo(LONGEST_FIRST) < 0 ? twice : LONGEST_FIRST;
      new SocketLoad(child.port(), connections).run(first, conversations);
    }
    long began = System.nanoTime();
    long cpu = child.cpu().toNanos();
    SocketLoad.Result result =
        new SocketLoad(child.port(), connections).run(setting.time(), conversations);
    double nanos = System.nanoTime() - began;
    return new Driven(result.load(), result.cores(), (child.cpu().toNanos() - cpu) / nanos);
  }

  /** What was measured, with the cores that both sides took. */
  String describe(String what) {
    return String.format(
        Locale.ROOT, "%s (cores: load %.2f, server %.2f)", what, generatorCores, serverCores);
  }

  /** Reports throughput and latency; gives the lifecycles a second. */
  double report(Setting setting, String scenario, String what) {
    setting.report().add(Figure.of(scenario, describe(what), load));
    return load.perSecond();
  }
}
