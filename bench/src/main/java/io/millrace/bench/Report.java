package io.millrace.bench;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Collects figures and prints each as a row of a table at once. */
final class Report {
  private static final String ROW = "%-13s %-56s %13s %-13s %9s %9s  %-30s %s%n";

  private final PrintStream out;
  private final List<Figure> figures = new ArrayList<>();

  Report(PrintStream out) {
    this.out = out;
    out.printf(
        Locale.ROOT, ROW, "scenario", "what", "value", "unit", "p50", "p99", "ratio", "target");
  }

  void add(Figure figure) {
    figures.add(figure);
    Double ratio = figure.ratio();
    out.printf(
        Locale.ROOT,
        ROW,
        figure.scenario(),
        figure.what(),
        String.format(Locale.ROOT, figure.value() < 100 ? "%.2f" : "%,.0f", figure.value()),
        figure.unit(),
        time(figure.p50Micros()),
        time(figure.p99Micros()),
        ratio == null ? "" : String.format(Locale.ROOT, "%.2f of %s", ratio, figure.ratioTo()),
        figure.target() == null
            ? ""
            : figure.target() + (Boolean.TRUE.equals(figure.met()) ? ": met" : ": missed"));
    out.flush();
  }

  /** Prints a note about a scenario, for example why a part was left out. */
  void say(String scenario, String words) {
    out.printf(Locale.ROOT, "%-13s %s%n", scenario, words);
    out.flush();
  }

  List<Figure> figures() {
    return List.copyOf(figures);
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
