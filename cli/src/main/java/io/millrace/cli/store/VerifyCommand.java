package io.millrace.cli.store;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.store.StoreReport;
import io.millrace.store.TaskStore;
import io.millrace.store.journal.files.JournalReport;
import io.millrace.store.journal.files.JournalReport.Damage;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Checks a folder. */
@Command(
    name = "verify",
    description =
        "Reads every file of a store's folder and every record in them, replays what a start would,"
            + " changes nothing, and says what it found. Exits with 5 when something is damaged and"
            + " with 4 when there is no store.")
final class VerifyCommand implements Callable<Integer> {
  private final Terminal terminal;

  @Option(
      names = {"-d", "--data"},
      paramLabel = "DIR",
      defaultValue = "./millrace-data",
      description = "The folder. Default: ${DEFAULT-VALUE}")
  private Path folder = Path.of("");

  @Option(names = "--json", description = "Prints the report as JSON.")
  private boolean json;

  VerifyCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() {
    StoreReport report = TaskStore.verify(folder);
    JournalReport journal = report.journal();
    PrintStream out = terminal.out();
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

  /** One object: the figures of the files and those of the state side by side. */
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
