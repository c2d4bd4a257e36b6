package io.millrace.cli.nodes;

import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** Shows what is configured. */
@Command(name = "show", description = "Shows what is set for all nodes, or for one.")
final class ConfigShowCommand extends RemoteCommand {
  @Option(names = "--node", paramLabel = "NODE", description = "Only what is set for this node.")
  private @Nullable String node;

  ConfigShowCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) {
    JsonNode fields = calls.get(ConfigSetCommand.path(node));
    if (json()) {
      out().println(fields);
    } else {
      Fields.print(out(), fields);
    }
    return ExitCode.OK;
  }
}
