package io.millrace.cli.cluster;

import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.UsageException;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.example.FilesExample;
import io.millrace.cluster.member.Duty;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which example members run, as options and as the plan of a cluster. */
final class ExampleOptions {
  private static final String FILES = "files";

  @Option(
      names = "--example",
      paramLabel = "NAME",
      description =
          "What the members do: files has them hash the files of --input and append a line for each"
              + " to --output. Default: what the cluster's plan says, or nothing")
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
        throw new UsageException("--input, --output and --pace belong to --example files");
      }
      return Map.of();
    }
    if (!example.equals(FILES)) {
      throw new UsageException("there is no example '" + example + "'; there is: " + FILES);
    }
    if (input == null || output == null) {
      throw new UsageException("--example files needs --input DIR and --output FILE");
    }
    if (!Files.isDirectory(input)) {
      throw new UsageException("--input " + input + " is no folder");
    }
    Path lines = output.toAbsolutePath().normalize();
    Path folder = input.toAbsolutePath().normalize();
    if (folder.equals(lines.getParent())) {
      throw new UsageException("--output " + output + " would be one of the files of --input");
    }
    return Map.of(
        "example",
        FILES,
        "input",
        folder.toString(),
        "output",
        lines.toString(),
        "pace",
        Long.toString(pace == null ? 0 : pace.toMillis()));
  }

  /**
   * What a plan has a member do.
   *
   * @param token the member's token, asked for when it works
   * @throws UsageException where this version does not understand the plan
   */
  static Duty duty(Map<String, String> plan, VersionedDocuments documents, Supplier<String> token) {
    if (plan.isEmpty()) {
      return Duty.none();
    }
    String input = plan.get("input");
    String output = plan.get("output");
    if (!FILES.equals(plan.get("example")) || input == null || output == null) {
      throw new UsageException("the cluster's plan is not one that this version knows: " + plan);
    }
    return Duty.of(
        new FilesExample(
            documents,
            Path.of(input),
            Path.of(output),
            Duration.ofMillis(Long.parseLong(plan.getOrDefault("pace", "0"))),
            token));
  }
}
