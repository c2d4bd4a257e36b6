package io.millrace.cli.store;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.store.journal.JournalCheck;
import io.millrace.store.journal.JournalReport;
import io.millrace.store.journal.JournalReport.Damage;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.json.JsonMapper;

/** Checks a folder. */
@Command(
    name = "verify",
    description =
        "Reads every file of a store's folder, changes nothing, and says what it found. Exits with"
            + " 5 when something is damaged and with 4 when there is no store.")
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
    JournalReport report = JournalCheck.verify(folder);
    PrintStream out = terminal.out();
    if (json) {
      out.println(new JsonMapper().writeValueAsString(report));
    } else {
      print(report, out);
    }
    if (!report.isSound()) {
      return ExitCode.DAMAGED;
    }
    return report.segments() == 0 && report.snapshots() == 0 ? ExitCode.NOTHING : ExitCode.OK;
  }

  private void print(JournalReport report, PrintStream out) {
    if (report.segments() == 0 && report.snapshots() == 0 && report.isSound()) {
      out.println("there is no store in " + folder);
      return;
    }
    out.printf(
        "%d commits up to %s, in %d frames of %d segments and %d snapshots, %d bytes%n",
        report.lastPosition(),
        Instant.ofEpochMilli(report.lastTimeMillis()),
        report.frames(),
        report.segments(),
        report.snapshots(),
        report.bytes());
    report.notices().forEach(notice -> out.println("notice: " + notice));
    for (Damage damage : report.damages()) {
      out.printf("DAMAGE: %s at byte %d: %s%n", damage.file(), damage.offset(), damage.what());
    }
    out.println(report.isSound() ? "sound" : "damaged");
  }
}
