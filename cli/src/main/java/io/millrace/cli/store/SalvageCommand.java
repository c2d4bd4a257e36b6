package io.millrace.cli.store;

import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.processes.PrivateFiles;
import io.millrace.store.StoreReport;
import io.millrace.store.TaskStore;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Saves what is left of a store that does not start any more. */
@Command(
    name = "salvage",
    description =
        "Saves to a backup what can be read of a store that does not start any more: its newest"
            + " whole snapshot and the commits after it, up to the first that is damaged. Changes"
            + " nothing in the folder. Make a new store of the backup with restore.")
final class SalvageCommand implements Callable<Integer> {
  private final Terminal terminal;

  @Parameters(paramLabel = "FILE", description = "The file to write.")
  private Path file = Path.of("");

  @Option(
      names = {"-d", "--data"},
      paramLabel = "DIR",
      defaultValue = "./millrace-data",
      description = "The folder of the store. Default: ${DEFAULT-VALUE}")
  private Path folder = Path.of("");

  @Option(names = "--force", description = "Replaces the file if there is one.")
  private boolean force;

  SalvageCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (!Files.isDirectory(folder)) {
      throw new CommandException(ExitCode.FAILURE, "there is no folder " + folder);
    }
    long commits =
        BackupCommand.write(
            file,
            force,
            unfinished -> {
              try (OutputStream out =
                  new BufferedOutputStream(PrivateFiles.newOutputStream(unfinished))) {
                StoreReport report = TaskStore.salvage(folder, out);
                VerifyCommand.printDamage(report.journal(), terminal.out());
              }
            });
    terminal.out().println("saved the first " + commits + " commits in " + file);
    terminal
        .out()
        .println("make a store of them: ./millrace store restore " + file + " --data DIR");
    return ExitCode.OK;
  }
}
