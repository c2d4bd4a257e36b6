package io.millrace.cli.cluster;

import io.millrace.cli.terminal.Terminal;
import io.millrace.cluster.status.ClusterStatus;
import io.millrace.cluster.status.StatusForm;
import java.io.PrintStream;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

/** Lists the partitions and who works on them. */
@Command(name = "partitions", description = "Lists the partitions and who works on them.")
final class PartitionsCommand extends ClusterCommand {
  PartitionsCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  JsonNode form(ClusterStatus status) {
    return StatusForm.partitions(status.partitions());
  }

  @Override
  void print(ClusterStatus status, PrintStream out) {
    Tables.partitions(status.partitions(), out);
  }
}
