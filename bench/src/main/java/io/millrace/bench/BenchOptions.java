package io.millrace.bench;

import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What to measure, and how.
 *
 * @param only the scenarios to run, by name; empty for all
 * @param time how long to measure each thing, positive; default 5 seconds
 * @param json where to write the figures as JSON; null for nowhere
 * @param folder where the stores and the peers keep their files while the run lasts, created where
 *     it is absent: its disk is the one measured
 * @param serverArguments arguments for the JVM of the servers started, as {@code -Xmx4g}; empty for
 *     those that this JVM has
 * @param scale divides the numbers of waiting tasks, 1 to 1,000,000; default 1
 * @param out where the table goes
 */
public record BenchOptions(
    Set<String> only,
    Duration time,
    @Nullable Path json,
    Path folder,
    List<String> serverArguments,
    int scale,
    PrintStream out) {

  /** Rejects values that make no sense. */
  public BenchOptions {
    if (!time.isPositive()) {
      throw new IllegalArgumentException("the time to measure must be positive, not " + time);
    }
    if (scale < 1 || scale > 1_000_000) {
      throw new IllegalArgumentException("scale must be between 1 and 1,000,000, not " + scale);
    }
    only = Set.copyOf(only);
    serverArguments = List.copyOf(serverArguments);
  }

  /** Everything, with files below this folder and the table on {@code out}. */
  public static BenchOptions in(Path folder, PrintStream out) {
    return new BenchOptions(Set.of(), Duration.ofSeconds(5), null, folder, List.of(), 1, out);
  }

  /** The same for these scenarios only. */
  public BenchOptions withOnly(Set<String> only) {
    return new BenchOptions(only, time, json, folder, serverArguments, scale, out);
  }

  /** The same, measuring for so long. */
  public BenchOptions withTime(Duration time) {
    return new BenchOptions(only, time, json, folder, serverArguments, scale, out);
  }

  /** The same with the figures written to a file, or nowhere. */
  public BenchOptions withJson(@Nullable Path json) {
    return new BenchOptions(only, time, json, folder, serverArguments, scale, out);
  }

  /** The same with arguments for the servers' JVM. */
  public BenchOptions withServerArguments(List<String> arguments) {
    return new BenchOptions(only, time, json, folder, arguments, scale, out);
  }

  /** The same with fewer waiting tasks. */
  public BenchOptions withScale(int scale) {
    return new BenchOptions(only, time, json, folder, serverArguments, scale, out);
  }
}
