package io.millrace.cli.tasks;

import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import io.millrace.queues.Status;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Operates tasks, each by itself. */
abstract class OperateCommand extends RemoteCommand {
  private final String operation;

  @Mixin private TaskCalls.IdArguments tasks = new TaskCalls.IdArguments();

  private OperateCommand(Terminal terminal, String operation) {
    super(terminal);
    this.operation = operation;
  }

  @Command(
      name = "cancel",
      description = "Cancels tasks that wait or are held back; they get status -5.")
  static final class Cancel extends OperateCommand {
    Cancel(Terminal terminal) {
      super(terminal, "cancel");
    }
  }

  @Command(
      name = "terminate",
      description =
          "Terminates tasks; running ones are killed with all their processes. They get status -3.")
  static final class Terminate extends OperateCommand {
    Terminate(Terminal terminal) {
      super(terminal, "terminate");
    }
  }

  @Command(name = "block", description = "Holds waiting tasks back; they get status -4.")
  static final class Block extends OperateCommand {
    Block(Terminal terminal) {
      super(terminal, "block");
    }
  }

  @Command(
      name = "requeue",
      description = "Queues tasks again that are held back or have ended; they get status -2.")
  static final class Requeue extends OperateCommand {
    Requeue(Terminal terminal) {
      super(terminal, "requeue");
    }
  }

  @Override
  protected final int run(JsonCalls calls) throws IOException {
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
  protected final String refusal(String id, RejectedException e) {
    return id + ": " + e.getMessage();
  }

  /** The status of the answer does not tell, so the task is asked for. */
  @Override
  protected final boolean isAbsent(JsonCalls calls, String id, RejectedException refused) {
    try {
      return !calls.get(TaskCalls.path(id)).isObject();
    } catch (RejectedException _) {
      return true;
    }
  }
}
