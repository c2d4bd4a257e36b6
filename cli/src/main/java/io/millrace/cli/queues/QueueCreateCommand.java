package io.millrace.cli.queues;

import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Creates a queue. */
@Command(
    name = "create",
    description = "Creates a queue; without --threads it runs nothing until they are set.")
final class QueueCreateCommand extends RemoteCommand {
  @Parameters(paramLabel = "NAME", description = "Its name, which no other queue has.")
  private String name = "";

  @Option(
      names = {"-p", "--plugin"},
      required = true,
      paramLabel = "NAME",
      description = "What runs its tasks: shell, exec, demo, or a plugin of your own.")
  private String plugin = "";

  @Mixin private QueueOptions options = new QueueOptions();

  QueueCreateCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) {
    ObjectNode fields = JsonNodeFactory.instance.objectNode();
    fields.put("name", name).put("plugin", plugin);
    options.addTo(fields);
    JsonNode created = calls.post(QueueCalls.PATH, fields);
    print(created, "created queue " + name + ", id " + Fields.id(created));
    return ExitCode.OK;
  }
}
