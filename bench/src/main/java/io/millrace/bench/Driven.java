package io.millrace.bench;

import java.io.IOException;
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
  /** Drives a server over so many connections, after warming up. */
  static Driven run(
      Setting setting, Child child, int connections, IntFunction<Conversation> conversations)
      throws IOException {
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
