package io.millrace.cli.store;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.store.TaskStore;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Makes a store of a backup. */
@Command(
    name = "restore",
    description =
        "Makes a new store of a backup, in a folder that is empty or not there yet. It holds what"
            + " the other one held at the backup, claims included.")
final class RestoreCommand implements Callable<Integer> {
  private final Terminal terminal;

  @Parameters(paramLabel = "FILE", description = "The backup.")
  private Path file = Path.of("");

  @Option(
      names = {"-d", "--data"},
      paramLabel = "DIR",
      required = true,
      description = "The folder of the new store.")
  private Path folder = Path.of("");

  RestoreCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() throws IOException {
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 20)) {
      long commits = TaskStore.restore(folder, in);
      terminal.out().println("restored " + commits + " commits to " + folder);
    }
    return ExitCode.OK;
  }
}
