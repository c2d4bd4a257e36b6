package io.millrace.cli.queues;

import io.millrace.queues.runner.LocalRunnersOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How a node of this program starts task runners: this program, under flags of their own. */
public final class RunnerLaunch {
  /** The flags, one a line, from the launcher. */
  private static final String FLAGS = "millrace.runner";

  /** Without a launcher, the most important ones. */
  private static final String USUAL =
      """
      -XX:+UseSerialGC
      -XX:TieredStopAtLevel=1
      -XX:CompileThresholdScaling=0.1
      -Xmx128m
      """;

  private RunnerLaunch() {}

  /**
   * The command of a runner.
   *
   * @param server the server's address
   * @param tokenFile a file with the token that it wants; null for none
   */
  public static LocalRunnersOptions.Command command(String server, @Nullable Path tokenFile) {
    List<String> program = new ArrayList<>();
    program.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    System.getProperty(FLAGS, USUAL).lines().filter(flag -> !flag.isBlank()).forEach(program::add);
    program.addAll(List.of("-cp", System.getProperty("java.class.path")));
    program.addAll(List.of("io.millrace.cli.Millrace", "runner"));
    List<String> arguments = new ArrayList<>(List.of("--server", server));
    if (tokenFile != null) {
      arguments.addAll(List.of("--token-file", tokenFile.toAbsolutePath().toString()));
    }
    return new LocalRunnersOptions.Command(program, arguments);
  }
}
