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

/** Which example members run, as options and as the plan of a cluster. */
final class ExampleOptions {
  @Option(
      names = "--example",
      paramLabel = "NAME",
      description =
          "What the members do: files has them hash the files of --input and append a line for each"
              + " to --output; listing has the leader send them lambdas that do; feed has it send"
              + " them lambdas that follow the files of --input as they grow. Default: what the"
              + " cluster's plan says, or nothing")
  private @Nullable String example;

  @Option(names = "--input", paramLabel = "DIR", description = "The folder of files.")
  private @Nullable Path input;

  @Option(
      names = "--output",
      paramLabel = "FILE",
      description = "The file of lines: NAME HASH MEMBER-TOKEN FENCING-TOKEN.")
  private @Nullable Path output;

  @Option(
      names = "--pace",
      paramLabel = "TIME",
      converter = Durations.class,
      description = "How long each file takes at least. Default: 0s")
  private @Nullable Duration pace;

  /**
   * What the options say, in the form of a plan; empty where they say nothing.
   *
   * @throws UsageException where they do not go together
   */
  Map<String, String> plan() {
    if (example == null) {
      if (input != null || output != null || pace != null) {
        throw new UsageException("--input, --output and --pace belong to --example NAME");
      }
      return Map.of();
    }
    Map<String, String> plan = new TreeMap<>(Example.of(example).plan(this));
    plan.put(Plan.EXAMPLE, example);
    return plan;
  }

  /** The folder of {@code --input}, in full. */
  Path inputFolder() {
    Path folder = required(input, "--input DIR");
    if (!Files.isDirectory(folder)) {
      throw new UsageException("--input " + folder + " is no folder");
    }
    return folder.toAbsolutePath().normalize();
  }

  /** The file of {@code --output}, in full. */
  Path output() {
    return required(output, "--output FILE").toAbsolutePath().normalize();
  }

  /** The file of {@code --output}, in full, which is not in this folder. */
  Path outputBeside(Path folder) {
    Path lines = output();
    if (folder.equals(lines.getParent())) {
      throw new UsageException("--output " + lines + " would be one of the files of --input");
    }
    return lines;
  }

  /** How long each step takes at least. */
  Duration pace() {
    return pace == null ? Duration.ZERO : pace;
  }

  /** For an example that takes as long as it takes. */
  void refusePace() {
    if (pace != null) {
      throw new UsageException("--pace does not belong to --example " + example);
    }
  }

  private Path required(@Nullable Path path, String option) {
    if (path == null) {
      throw new UsageException("--example %s needs %s".formatted(example, option));
    }
    return path;
  }
}
