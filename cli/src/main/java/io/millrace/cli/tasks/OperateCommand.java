package io.millrace.cli.tasks;

import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import io.millrace.queues.Status;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Does one thing to tasks, to each by itself. */
abstract class OperateCommand extends RemoteCommand {
  private final String operation;

  @Mixin private IdArguments tasks = new IdArguments();

  private OperateCommand(Terminal terminal, String operation) {
    super(terminal);
    this.operation = operation;
  }

  /** Gives tasks up. */
  @Command(name = "cancel", description = "Gives tasks up that wait or are held back: status -5.")
  static final class Cancel extends OperateCommand {
    Cancel(Terminal terminal) {
      super(terminal, "cancel");
    }
  }

  /** Ends tasks that run. */
  @Command(
      name = "terminate",
      description =
          "Ends tasks: those that run by a word to their runner, which ends their processes."
              + " Status -3.")
  static final class Terminate extends OperateCommand {
    Terminate(Terminal terminal) {
      super(terminal, "terminate");
    }
  }

  /** Holds tasks back. */
  @Command(name = "block", description = "Holds tasks back that wait: status -4.")
  static final class Block extends OperateCommand {
    Block(Terminal terminal) {
      super(terminal, "block");
    }
  }

  /** Queues tasks again. */
  @Command(
      name = "requeue",
      description = "Queues tasks again that are held back or have ended: status -2.")
  static final class Requeue extends OperateCommand {
    Requeue(Terminal terminal) {
      super(terminal, "requeue");
    }
  }

  /** Tries all of them, also when one is refused. */
  @Override
  protected final int run(JsonCalls calls) throws IOException {
    List<String> ids = tasks.read(terminal());
    int code = ExitCode.OK;
    for (String id : ids) {
      try {
        JsonNode answer =
            calls.post(TaskCalls.path(id) + "/" + operation, JsonNodeFactory.instance.objectNode());
        print(answer, id + "  " + Status.name(answer.path("status").asInt()));
      } catch (RejectedException e) {
        if (e.status() == 401 || e.status() == 403 || e.status() >= 500) {
          throw e;
        }
        terminal().err().println("millrace: " + id + ": " + e.getMessage());
        code = Math.max(code, isThere(calls, id) ? ExitCode.REFUSED : ExitCode.NOTHING);
      }
    }
    return code;
  }

  private static boolean isThere(JsonCalls calls, String id) {
    try {
      return calls.get(TaskCalls.path(id)).isObject();
    } catch (RejectedException _) {
      return false;
    }
  }
}
