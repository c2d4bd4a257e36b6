package io.millrace.cli.cluster;

import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.UsageException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that choose the example that members run. */
final class ExampleOptions {
  private static final int MAX_PORT = 65_535;

  @Option(
      names = "--example",
      paramLabel = "NAME",
      description =
          "What the members do. files: hash each file of --input and append a line for it to"
              + " --output. port: one member listens on --port and appends each line it receives to"
              + " --output. topic: follow the files of --input and append each new line to"
              + " --output. listing and feed: the same as files and topic, done by lambdas that the"
              + " leader sends. Default: the example or program that the cluster is running, or"
              + " none")
  private @Nullable String example;

  @Option(names = "--input", paramLabel = "DIR", description = "The folder of input files.")
  private @Nullable Path input;

  @Option(
      names = "--output",
      paramLabel = "FILE",
      description = {
        "The file to append lines to. files: NAME HASH MEMBER-TOKEN FENCING-TOKEN. port: LINE"
            + " MEMBER-TOKEN FENCING-TOKEN. topic: FILE OFFSET LINE MEMBER-TOKEN FENCING-TOKEN."
      })
  private @Nullable Path output;

  @Option(
      names = "--pace",
      paramLabel = "TIME",
      converter = Durations.class,
      description =
          "The minimum time that the examples files and listing spend on each file. Default: 0s")
  private @Nullable Duration pace;

  @Option(
      names = "--port",
      paramLabel = "N",
      description = "The port for the example port, 1 to 65535, on the loopback interface.")
  private @Nullable Integer port;

  /**
   * The options as the values of a plan; empty if no example is given.
   *
   * @throws UsageException if options are missing, wrong or cannot be combined
   */
  Map<String, String> plan() {
    if (example == null) {
      if (input != null || output != null || pace != null || port != null) {
        throw new UsageException("--input, --output, --pace and --port belong to --example NAME");
      }
      return Map.of();
    }
    Example chosen = Example.of(example);
    if (pace != null && !chosen.isPaced()) {
      throw new UsageException("--pace does not belong to --example " + example);
    }
    Map<String, String> plan = new TreeMap<>(Map.of(Plan.EXAMPLE, example));
    if (chosen == Example.PORT) {
      plan.put(Plan.PORT, Integer.toString(port()));
      plan.put(Plan.OUTPUT, output().toString());
    } else {
      plan.put(Plan.INPUT, inputFolder().toString());
      plan.put(Plan.OUTPUT, outputBesideInput().toString());
    }
    if (chosen.isPaced()) {
      plan.put(Plan.PACE, Long.toString(pace == null ? 0 : pace.toMillis()));
    }
    return plan;
  }

  /** The absolute path of {@code --input}. */
  private Path inputFolder() {
    Path folder = required(input, "--input DIR");
    if (!Files.isDirectory(folder)) {
      throw new UsageException("--input " + folder + " is not a folder");
    }
    return folder.toAbsolutePath().normalize();
  }

  /** The absolute path of {@code --output}. */
  private Path output() {
    return required(output, "--output FILE").toAbsolutePath().normalize();
  }

  /** The absolute path of {@code --output}, which must not be in the input folder. */
  private Path outputBesideInput() {
    Path lines = output();
    if (inputFolder().equals(lines.getParent())) {
      throw new UsageException("--output " + lines + " would be one of the files of --input");
    }
    return lines;
  }

  /** The port of {@code --port}. */
  private int port() {
    int given = required(port, "--port N");
    if (given < 1 || given > MAX_PORT) {
      throw new UsageException(
          "--port is 1 to %d, the same for all members, not %d".formatted(MAX_PORT, given));
    }
    return given;
  }

  private <T> T required(@Nullable T value, String option) {
    if (value == null) {
      throw new UsageException("--example %s needs %s".formatted(example, option));
    }
    return value;
  }
}
