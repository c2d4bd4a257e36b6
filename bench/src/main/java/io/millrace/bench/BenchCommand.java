package io.millrace.bench;

import io.millrace.bench.Bench.BenchException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command {@code bench}; it can also be run on its own. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    description =
        "Measures the store, the server and the layers, in comparison with other programs.")
public final class BenchCommand implements Callable<Integer> {
  @Option(
      names = "--only",
      split = ",",
      paramLabel = "SCENARIO",
      description = "The scenarios to run, separated by commas; --list shows them. Default: all")
  private Set<String> only = new LinkedHashSet<>();

  @Option(names = "--list", description = "Lists the scenarios and measures nothing.")
  private boolean list;

  @Option(
      names = "--seconds",
      defaultValue = "5",
      description = "How long each measurement takes. Default: ${DEFAULT-VALUE}")
  private double seconds;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Also writes the figures to this file, as JSON.")
  private @Nullable Path json;

  @Option(
      names = "--folder",
      paramLabel = "FOLDER",
      description =
          "The folder for the stores of this run; its disk is measured. Default: the folder for"
              + " temporary files")
  private @Nullable Path folder;

  @Option(
      names = "--scale",
      defaultValue = "1",
      paramLabel = "N",
      description = "Divides the number of waiting tasks by this, for a quick run.")
  private int scale;

  @Option(
      names = "--items",
      defaultValue = "0",
      paramLabel = "N",
      description =
          "How many jobs the scenario archive sends through the server. Default: as many as five"
              + " runs take")
  private long items;

  @Option(
      names = "--store",
      paramLabel = "URL",
      description =
          "A database that the scenarios stores and takeover measure too, for example"
              + " 'jdbc:postgresql://127.0.0.1:5432/bench?user=bench'; can be repeated. What it"
              + " writes stays there")
  private List<String> stores = new ArrayList<>();

  @Option(
      names = "--server-jvm",
      paramLabel = "ARGUMENT",
      description =
          "An argument for the JVM of the servers, for example -Xmx4g; can be repeated. Default:"
              + " the arguments of this JVM")
  private List<String> serverArguments = new ArrayList<>();

  @Override
  public Integer call() throws InterruptedException {
    if (list) {
      IO.println(Bench.scenarios());
      return CommandLine.ExitCode.OK;
    }
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    try {
      Bench.run(
          new Bench.Options(
              only,
              Duration.ofNanos((long) (seconds * 1e9)),
              json,
              folder == null ? Path.of(System.getProperty("java.io.tmpdir")) : folder,
              serverArguments,
              scale,
              items,
              stores,
              out));
      return CommandLine.ExitCode.OK;
    } catch (IllegalArgumentException | BenchException e) {
      System.err.println("bench: " + e.getMessage());
      return CommandLine.ExitCode.USAGE;
    }
  }

  /** Runs the command on its own. */
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new BenchCommand()).execute(arguments));
  }
}
