package io.millrace.bench;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Collects measurements. Prints each at once, as a row of a table. */
final class Report {
  private static final String ROW = "%-13s %-56s %13s %-13s %9s %9s  %-30s %s%n";

  private final PrintStream out;
  private final List<Measurement> measurements = new ArrayList<>();

  Report(PrintStream out) {
    this.out = out;
    out.printf(
        Locale.ROOT, ROW, "scenario", "what", "value", "unit", "p50", "p99", "ratio", "target");
  }

  void add(Measurement measurement) {
    measurements.add(measurement);
    Double ratio = measurement.ratio();
    out.printf(
        Locale.ROOT,
        ROW,
        measurement.scenario(),
        measurement.what(),
        String.format(
            Locale.ROOT, measurement.value() < 100 ? "%.2f" : "%,.0f", measurement.value()),
        measurement.unit(),
        time(measurement.p50Micros()),
        time(measurement.p99Micros()),
        ratio == null ? "" : String.format(Locale.ROOT, "%.2f of %s", ratio, measurement.ratioTo()),
        measurement.target() == null
            ? ""
            : measurement.target()
                + (Boolean.TRUE.equals(measurement.met()) ? ": met" : ": missed"));
    out.flush();
  }

  /** Prints a note about a scenario, for example why a part was left out. */
  void say(String scenario, String words) {
    out.printf(Locale.ROOT, "%-13s %s%n", scenario, words);
    out.flush();
  }

  List<Measurement> measurements() {
    return List.copyOf(measurements);
  }

  private static String time(@Nullable Double micros) {
    if (micros == null) {
      return "";
    }
    return micros < 1000
        ? String.format(Locale.ROOT, "%.0f µs", micros)
        : String.format(Locale.ROOT, "%.1f ms", micros / 1000);
  }
}
