package io.millrace.cli.queues;

import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Changes a queue. */
@Command(name = "set", description = "Changes a queue; what runs already goes on.")
final class QueueSetCommand extends RemoteCommand {
  @Parameters(paramLabel = "QUEUE", description = "Its id or name.")
  private String queue = "";

  @Option(names = "--name", paramLabel = "NAME", description = "Another name.")
  private @Nullable String name;

  @Option(
      names = {"-p", "--plugin"},
      paramLabel = "NAME",
      description = "Another plugin.")
  private @Nullable String plugin;

  @Mixin private QueueOptions options = new QueueOptions();

  QueueSetCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) {
    ObjectNode fields = JsonNodeFactory.instance.objectNode();
    if (name != null) {
      fields.put("name", name);
    }
    if (plugin != null) {
      fields.put("plugin", plugin);
    }
    options.addTo(fields);
    if (fields.isEmpty()) {
      throw new UsageException("say what to set, as --threads 5");
    }
    // The queue may be gone, which is another matter than a value that is not accepted.
    QueueCalls.find(calls, queue);
    JsonNode answer = calls.post(QueueCalls.path(queue), fields);
    print(answer, "set " + String.join(", ", fields.propertyNames()) + " of queue " + queue);
    return ExitCode.OK;
  }
}
