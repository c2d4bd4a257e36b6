package io.millrace.cli.cluster;

import io.millrace.cli.terminal.Terminal;
import io.millrace.cluster.status.ClusterStatus;
import io.millrace.cluster.status.StatusForm;
import java.io.PrintStream;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

/** Lists locks and their holders, without those of partitions. */
@Command(
    name = "locks",
    description = "Lists locks and their holders, without those of partitions.")
final class LocksCommand extends ClusterCommand {
  LocksCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  JsonNode form(ClusterStatus status) {
    return StatusForm.locks(status.locks());
  }

  @Override
  void print(ClusterStatus status, PrintStream out) {
    Tables.locks(status.locks(), out);
  }
}
