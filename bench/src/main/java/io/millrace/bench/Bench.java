package io.millrace.bench;

import io.millrace.server.HeapGoal;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** Measures the store, in process and over HTTP, beside other servers. */
public final class Bench {
  /**
   * What to measure, and how.
   *
   * @param only the scenarios to run, by name; empty for all
   * @param time how long to measure each thing, positive; default 5 seconds
   * @param json the file for the figures as JSON; null for none
   * @param folder for the files of the stores and the other servers during the run, created if
   *     absent: its disk is the one that is measured
   * @param serverArguments arguments for the JVM of the servers, for example {@code -Xmx4g}; empty
   *     for those of this JVM
   * @param scale divides the numbers of waiting tasks, 1 to 1,000,000; default 1
   * @param items how many jobs the scenario {@code archive} sends through the server, up to a
   *     billion; 0, the default, for a number of runs instead
   * @param stores the addresses of databases that the scenarios {@code stores} and {@code takeover}
   *     measure besides a folder and SQLite, as {@code store.url}; empty for none
   * @param out where the table is printed
   */
  public record Options(
      Set<String> only,
      Duration time,
      @Nullable Path json,
      Path folder,
      List<String> serverArguments,
      int scale,
      long items,
      List<String> stores,
      PrintStream out) {

    /** Rejects invalid values. */
    public Options {
      if (!time.isPositive()) {
        throw new IllegalArgumentException("the time to measure must be positive, not " + time);
      }
      if (scale < 1 || scale > 1_000_000) {
        throw new IllegalArgumentException("scale must be between 1 and 1,000,000, not " + scale);
      }
      if (items < 0 || items > 1_000_000_000) {
        throw new IllegalArgumentException(
            "items must be between 0 and 1,000,000,000, not " + items);
      }
      only = Set.copyOf(only);
      serverArguments = List.copyOf(serverArguments);
      stores = List.copyOf(stores);
    }
  }

  private Bench() {}

  /** The scenarios by name, one a line, each with what it measures. */
  public static String scenarios() {
    return Scenario.all().stream()
        .map(it -> String.format("  %-13s %s", it.name(), it.what()))
        .collect(Collectors.joining("\n"));
  }

  /**
   * Runs the scenarios one after the other and prints each figure as soon as it is known.
   *
   * @return all figures
   * @throws IllegalArgumentException naming a scenario that does not exist
   * @throws BenchException if something could not be measured
   */
  public static List<Measurement> run(Options options) throws InterruptedException {
    List<Scenario> chosen = choose(options);
    // As `up` does, so that what is measured in this process has a server's collector too.
    HeapGoal.keep();
    Report report = new Report(options.out());
    try {
      Files.createDirectories(options.folder());
      for (Scenario scenario : chosen) {
        Path folder = Files.createTempDirectory(options.folder(), "millrace-bench");
        try {
          scenario.run(
              new Scenario.Context(
                  options.time(),
                  folder,
                  report,
                  options.serverArguments(),
                  options.scale(),
                  options.items(),
                  options.stores()));
        } finally {
          Scenario.Context.delete(folder);
        }
      }
      Path json = options.json();
      if (json != null) {
        Files.write(
            json,
            JsonMapper.shared()
                .writerWithDefaultPrettyPrinter()
                .writeValueAsBytes(report.measurements()));
      }
    } catch (IOException e) {
      throw new BenchException("the measurement failed: " + e.getMessage(), e);
    }
    return report.measurements();
  }

  private static List<Scenario> choose(Options options) {
    List<Scenario> all = Scenario.all();
    TreeSet<String> unknown = new TreeSet<>(options.only());
    all.forEach(scenario -> unknown.remove(scenario.name()));
    if (!unknown.isEmpty()) {
      throw new IllegalArgumentException(
          "there is no scenario " + unknown.first() + "; there are:\n" + scenarios());
    }
    return all.stream()
        .filter(it -> options.only().isEmpty() || options.only().contains(it.name()))
        .toList();
  }

  /** A measurement that failed, and why. */
  public static final class BenchException extends RuntimeException {
    BenchException(String message) {
      super(message);
    }

    BenchException(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** Collects measurements. Prints each at once, as a row of a table. */
  static final class Report {
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
          ratio == null
              ? ""
              : String.format(Locale.ROOT, "%.2f of %s", ratio, measurement.ratioTo()),
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
}
