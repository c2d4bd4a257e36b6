package io.millrace.cli.cluster;

import io.millrace.cli.terminal.Terminal;
import io.millrace.cluster.status.ClusterStatus;
import io.millrace.cluster.status.StatusForm;
import java.io.PrintStream;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

/** Lists the members and their workers. */
@Command(name = "members", description = "Lists the members and their workers.")
final class MembersCommand extends ClusterCommand {
  MembersCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  JsonNode form(ClusterStatus status) {
    return StatusForm.members(status.members());
  }

  @Override
  void print(ClusterStatus status, PrintStream out) {
    Tables.members(status.members().nodes(), out);
  }
}
