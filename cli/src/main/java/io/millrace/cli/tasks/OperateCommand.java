package io.millrace.cli.tasks;

import io.millrace.cli.remote.RemoteCommand;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import io.millrace.queues.Status;
import java.io.IOException;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Operates tasks, each by itself. */
final class OperateCommand extends RemoteCommand {
  private final String operation;

  @Mixin private TaskCalls.IdArguments tasks = new TaskCalls.IdArguments();

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
        tasks.read(terminal()),
        id -> {
          JsonNode answer =
              calls.post(
                  TaskCalls.path(id) + "/" + operation, JsonNodeFactory.instance.objectNode());
          print(answer, id + "  " + Status.name(answer.path("status").asInt()));
        });
  }

  @Override
  protected String refusal(String id, RejectedException e) {
    return id + ": " + e.getMessage();
  }

  /** The status of the answer does not tell, so the task is asked for. */
  @Override
  protected boolean isAbsent(JsonCalls calls, String id, RejectedException refused) {
    try {
      return !calls.get(TaskCalls.path(id)).isObject();
    } catch (RejectedException _) {
      return true;
    }
  }
}
