package io.millrace.cli.serve;

import io.millrace.cli.remote.Limits;
import io.millrace.cli.terminal.UsageException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What a command line says about the task runners of a node. */
final class WorkerOptions {
  @Option(
      names = "--plugins",
      paramLabel = "DIR",
      description =
          "The folder with plugins: executables, jars, folders with classes. Default: the built-in"
              + " ones alone")
  private @Nullable Path plugins;

  @Option(
      names = "--warm-runners",
      paramLabel = "N",
      description =
          "How many idle runners are kept for the next tasks. Default: 0, a process for each task")
  private String warm = "0";

  @Nullable Path plugins() {
    return plugins;
  }

  int warm() {
    return Limits.count("--warm-runners", warm);
  }

  /**
   * Looks whether they can be.
   *
   * @throws UsageException when they cannot
   */
  void check() {
    var _ = warm();
    if (plugins != null && Files.exists(plugins) && !Files.isDirectory(plugins)) {
      throw new UsageException("--plugins is not a folder: " + plugins);
    }
  }
}
