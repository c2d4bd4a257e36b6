package io.millrace.cli.jobs;

import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Operates jobs, each by itself. */
abstract class OperateCommand extends JobCommand {
  private final String operation;

  @Mixin private JobCalls.KeyArguments jobs = new JobCalls.KeyArguments();

  private OperateCommand(Terminal terminal, String operation) {
    super(terminal);
    this.operation = operation;
  }

  @Command(
      name = "retry",
      description = "Offers failed jobs to workers again and resets their failure counts.")
  static final class Retry extends OperateCommand {
    Retry(Terminal terminal) {
      super(terminal, "retry");
    }
  }

  @Command(
      name = "cancel",
      description =
          "Fails pending and running jobs permanently; a result that a worker sends later is"
              + " refused.")
  static final class Cancel extends OperateCommand {
    Cancel(Terminal terminal) {
      super(terminal, "cancel");
    }
  }

  @Command(
      name = "delete",
      description = "Deletes jobs of any status, with their payloads, results and history.")
  static final class Delete extends OperateCommand {
    Delete(Terminal terminal) {
      super(terminal, "delete");
    }
  }

  @Override
  protected final int run(JsonCalls calls) throws IOException {
    return each(
        calls,
        jobs.read(terminal()),
        key -> {
          JsonNode answer =
              calls.post(
                  JobCalls.path(key) + "/" + operation, JsonNodeFactory.instance.objectNode());
          print(answer, Table.printable(key) + "  " + answer.path("status").asString("deleted"));
        });
  }
}
