package io.millrace.cli.store;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.TerminalUser;
import io.millrace.processes.PrivateFiles;
import io.millrace.store.StoreReport;
import io.millrace.store.TaskStore;
import io.millrace.store.journal.files.JournalCheck;
import io.millrace.store.journal.files.JournalReport;
import io.millrace.store.journal.files.JournalReport.Damage;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The commands on a store where it is kept, which is not opened. */
final class KeptCommands {
  private static final Path DEFAULT_FOLDER = Path.of("./millrace-data");

  private KeptCommands() {}

  /** Whether there is no store. */
  private static boolean isNothing(JournalReport journal) {
    return journal.isSound()
        && journal.segments() == 0
        && journal.snapshots() == 0
        && journal.frames() == 0;
  }

  /** Checks a store. */
  @Command(
      name = "verify",
      description =
          "Checks every part of a store in a folder, a database or a backup, replays what a start"
              + " would replay, and reports the result. Changes nothing. Exits with 5 if something"
              + " is damaged, and with 4 if there is no store.")
  static final class Verify extends TerminalUser implements Callable<Integer> {

    @Option(
        names = {"-d", "--data"},
        paramLabel = "DIR",
        description = "The folder. Default: ./millrace-data")
    private @Nullable Path folder;

    @Mixin private KeptStore.From from = new KeptStore.From();

    @Option(names = "--json", description = "Prints the report as JSON.")
    private boolean json;

    @Override
    public Integer call() {
      KeptStore kept = from.storeOr(folder, DEFAULT_FOLDER);
      StoreReport report = TaskStore.verify(kept.source());
      JournalReport journal = report.journal();
      PrintStream out = out();
      if (json) {
        out.println(json(report));
      } else {
        print(kept, report, out);
      }
      if (!report.isSound()) {
        return ExitCode.DAMAGED;
      }
      return isNothing(journal) ? ExitCode.NOTHING : ExitCode.OK;
    }

    /** The report as one object with the figures of the files and of the state. */
    private static ObjectNode json(StoreReport report) {
      JsonMapper mapper = new JsonMapper();
      ObjectNode whole = mapper.valueToTree(report.journal());
      ObjectNode state = mapper.valueToTree(report);
      state.remove("journal");
      return whole.setAll(state);
    }

    private static void print(KeptStore kept, StoreReport report, PrintStream out) {
      JournalReport journal = report.journal();
      if (isNothing(journal)) {
        out.println("there is no store in " + kept.name());
        return;
      }
      out.printf(
          "%d commits up to %s, in %d frames%s and %d snapshots, %d bytes%n",
          journal.lastPosition(),
          Instant.ofEpochMilli(journal.lastTimeMillis()),
          journal.frames(),
          journal.segments() == 0 ? "" : " of " + journal.segments() + " segments",
          journal.snapshots(),
          journal.bytes());
      out.printf(
          "%d tasks in %d groups, %d documents and %d remembered requests after commit %d; the"
              + " largest id is %d; %d records read; digest %.16s%n",
          report.tasks(),
          report.groups(),
          report.documents(),
          report.rememberedRequests(),
          report.position(),
          report.lastId(),
          report.records(),
          report.digest());
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
              + " snapshot and the commits after it, up to the first damage. Changes nothing there."
              + " Create a new store from the backup with 'restore'.")
  static final class Salvage extends TerminalUser implements Callable<Integer> {

    @Parameters(paramLabel = "FILE", description = "The file to write.")
    private Path file = Path.of("");

    @Option(
        names = {"-d", "--data"},
        paramLabel = "DIR",
        description = "The folder of the store. Default: ./millrace-data")
    private @Nullable Path folder;

    @Mixin private KeptStore.From from = new KeptStore.From();

    @Option(names = "--force", description = "Replaces the file if there is one.")
    private boolean force;

    @Override
    public Integer call() throws IOException, InterruptedException {
      KeptStore kept = from.storeOr(folder, DEFAULT_FOLDER);
      long commits =
          BackupCommand.write(
              file,
              force,
              unfinished -> {
                try (OutputStream out =
                    new BufferedOutputStream(PrivateFiles.newOutputStream(unfinished))) {
                  StoreReport report = TaskStore.salvage(kept.source(), out);
                  Verify.printDamage(report.journal(), out());
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
          "Creates a new store from a backup. It holds what the store held at the time of the"
              + " backup, including claims, and is read back and compared. Blobs and the archive"
              + " are not in it; see docs/operations.md.")
  static final class Restore extends TerminalUser implements Callable<Integer> {

    @Parameters(paramLabel = "FILE", arity = "0..1", description = "The backup file.")
    private @Nullable String name;

    @Option(names = "--from", paramLabel = "FILE", description = "The same as FILE.")
    private @Nullable String from;

    @Option(
        names = {"-d", "--data"},
        paramLabel = "DIR",
        description = "The folder of the new store, the same as --to file:DIR.")
    private @Nullable Path folder;

    @Mixin private KeptStore.To to = new KeptStore.To();

    @Override
    public Integer call() {
      Path file = KeptStore.file(name, "--from", from);
      KeptStore target = to.store(folder);
      StoreReport report = TaskStore.copy(JournalCheck.backup(file), target.place(), to.replaces());
      out().println("restored " + report.position() + " commits to " + target.name());
      return ExitCode.OK;
    }
  }

  /** Copies a store. */
  @Command(
      name = "copy",
      description =
          "Copies a store from one place to another, as it is at one moment; servers may work on"
              + " the source meanwhile. The copy is read back and compared. A place is file:DIR,"
              + " the address of a database as 'millrace up --store' takes it, or backup:FILE."
              + " Blobs and the archive are not in it; see docs/operations.md.")
  static final class Copy extends TerminalUser implements Callable<Integer> {
    @Mixin private KeptStore.From from = new KeptStore.From();
    @Mixin private KeptStore.To to = new KeptStore.To();

    @Override
    public Integer call() throws IOException, InterruptedException {
      KeptStore source = from.storeOr(null, null);
      KeptStore target = to.store(null);
      Path backup = target.backup();
      if (backup != null) {
        long commits =
            BackupCommand.write(
                backup, to.replaces(), unfinished -> BackupCommand.save(source, unfinished));
        out().println("saved " + commits + " commits in " + backup);
        return ExitCode.OK;
      }
      StoreReport report = TaskStore.copy(source.source(), target.place(), to.replaces());
      out()
          .printf(
              "copied %d commits with %d tasks and %d documents to %s; read back, digest %.16s%n",
              report.position(),
              report.tasks(),
              report.documents(),
              target.name(),
              report.digest());
      return ExitCode.OK;
    }
  }
}
