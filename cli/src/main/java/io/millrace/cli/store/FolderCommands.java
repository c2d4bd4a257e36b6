package io.millrace.cli.store;

import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.TerminalUser;
import io.millrace.processes.PrivateFiles;
import io.millrace.store.StoreReport;
import io.millrace.store.TaskStore;
import io.millrace.store.journal.files.JournalReport;
import io.millrace.store.journal.files.JournalReport.Damage;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The commands on the folder of a store that is not open. */
final class FolderCommands {
  private FolderCommands() {}

  /** Checks a folder. */
  @Command(
      name = "verify",
      description =
          "Checks every file and record in the folder of a store, replays what a start would"
              + " replay, and reports the result. Changes nothing. Exits with 5 if something is"
              + " damaged, and with 4 if there is no store.")
  static final class Verify extends TerminalUser implements Callable<Integer> {

    @Option(
        names = {"-d", "--data"},
        paramLabel = "DIR",
        defaultValue = "./millrace-data",
        description = "The folder. Default: ${DEFAULT-VALUE}")
    private Path folder = Path.of("");

    @Option(names = "--json", description = "Prints the report as JSON.")
    private boolean json;

    @Override
    public Integer call() {
      StoreReport report = TaskStore.verify(folder);
      JournalReport journal = report.journal();
      PrintStream out = out();
      if (json) {
        out.println(json(report));
      } else {
        print(report, out);
      }
      if (!report.isSound()) {
        return ExitCode.DAMAGED;
      }
      return journal.segments() == 0 && journal.snapshots() == 0 ? ExitCode.NOTHING : ExitCode.OK;
    }

    /** The report as one object with the figures of the files and of the state. */
    private static ObjectNode json(StoreReport report) {
      JsonMapper mapper = new JsonMapper();
      ObjectNode whole = mapper.valueToTree(report.journal());
      ObjectNode state = mapper.valueToTree(report);
      state.remove("journal");
      return whole.setAll(state);
    }

    private void print(StoreReport report, PrintStream out) {
      JournalReport journal = report.journal();
      if (journal.segments() == 0 && journal.snapshots() == 0 && journal.isSound()) {
        out.println("there is no store in " + folder);
        return;
      }
      out.printf(
          "%d commits up to %s, in %d frames of %d segments and %d snapshots, %d bytes%n",
          journal.lastPosition(),
          Instant.ofEpochMilli(journal.lastTimeMillis()),
          journal.frames(),
          journal.segments(),
          journal.snapshots(),
          journal.bytes());
      out.printf(
          "%d tasks in %d groups, %d documents and %d remembered requests after commit %d; the"
              + " largest id is %d; %d records read%n",
          report.tasks(),
          report.groups(),
          report.documents(),
          report.rememberedRequests(),
          report.position(),
          report.lastId(),
          report.records());
      journal.notices().forEach(notice -> out.println("notice: " + notice));
      printDamage(journal, out);
      out.println(
          report.isSound() ? "sound" : "damaged; docs/journal-damage.md says what to do about it");
    }

    /** Prints each damage on a line of its own. */
    static void printDamage(JournalReport journal, PrintStream out) {
      for (Damage damage : journal.damages()) {
        out.printf("DAMAGE: %s at byte %d: %s%n", damage.file(), damage.offset(), damage.what());
      }
    }
  }

  /** Saves what can be read of a damaged store. */
  @Command(
      name = "salvage",
      description =
          "Writes what can still be read of a damaged store to a backup: its newest complete"
              + " snapshot and the commits after it, up to the first damage. Changes nothing in the"
              + " folder. Create a new store from the backup with 'restore'.")
  static final class Salvage extends TerminalUser implements Callable<Integer> {

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
                  FolderCommands.Verify.printDamage(report.journal(), out());
                }
              });
      out().println("saved the first " + commits + " commits in " + file);
      out().println("to create a store from it: ./millrace store restore " + file + " --data DIR");
      return ExitCode.OK;
    }
  }

  /** Creates a store from a backup. */
  @Command(
      name = "restore",
      description =
          "Creates a new store from a backup, in a folder that is empty or absent. It holds what"
              + " the store held at the time of the backup, including claims.")
  static final class Restore extends TerminalUser implements Callable<Integer> {

    @Parameters(paramLabel = "FILE", description = "The backup file.")
    private Path file = Path.of("");

    @Option(
        names = {"-d", "--data"},
        paramLabel = "DIR",
        required = true,
        description = "The folder of the new store.")
    private Path folder = Path.of("");

    @Override
    public Integer call() throws IOException {
      try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 20)) {
        long commits = TaskStore.restore(folder, in);
        out().println("restored " + commits + " commits to " + folder);
      }
      return ExitCode.OK;
    }
  }
}
