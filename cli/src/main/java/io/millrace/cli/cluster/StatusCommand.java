package io.millrace.cli.cluster;

import io.millrace.cli.terminal.Terminal;
import io.millrace.cluster.status.ClusterStatus;
import io.millrace.cluster.status.StatusForm;
import java.io.PrintStream;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

/** Shows leader, members, partitions and what members report. */
@Command(
    name = "status",
    description = "Shows leader, members, partitions and what members report.")
final class StatusCommand extends ClusterCommand {
  StatusCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  JsonNode form(ClusterStatus status) {
    return StatusForm.status(status);
  }

  @Override
  void print(ClusterStatus status, PrintStream out) {
    Tables.leader(status, out);
    Tables.members(status.members().nodes(), out);
    Tables.partitions(status.partitions(), out);
    Tables.reports(status.reports(), out);
  }
}
