package io.millrace.cli.jobs;

import io.millrace.cli.terminal.Table;
import io.millrace.client.JsonCalls;
import java.io.IOException;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Operates jobs, each by itself. */
final class OperateCommand extends JobCommand {
  private final String operation;

  @Mixin private JobCalls.KeyArguments jobs = new JobCalls.KeyArguments();

  /**
   * A command without a name.
   *
   * @param operation what is posted to the path of each
   */
  OperateCommand(String operation) {
    this.operation = operation;
  }

  @Override
  protected int run(JsonCalls calls) throws IOException {
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
