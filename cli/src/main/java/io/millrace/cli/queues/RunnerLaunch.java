package io.millrace.cli.queues;

import io.millrace.cli.remote.ServerLocation;
import io.millrace.queues.runner.LocalRunnersOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

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
      --enable-native-access=ALL-UNNAMED
      """;

  private RunnerLaunch() {}

  /**
   * The command of a runner.
   *
   * @param server the server that it asks
   */
  public static LocalRunnersOptions.Command command(ServerLocation server) {
    List<String> program = new ArrayList<>();
    program.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    System.getProperty(FLAGS, USUAL).lines().filter(flag -> !flag.isBlank()).forEach(program::add);
    program.addAll(List.of("-cp", System.getProperty("java.class.path")));
    program.addAll(List.of("io.millrace.cli.Millrace", "runner"));
    return new LocalRunnersOptions.Command(program, server.arguments());
  }
}
