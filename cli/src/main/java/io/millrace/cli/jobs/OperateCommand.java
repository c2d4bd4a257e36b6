package io.millrace.cli.jobs;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Does one thing to jobs, to each by itself. */
abstract class OperateCommand extends JobCommand {
  private final String operation;

  @Mixin private KeyArguments jobs = new KeyArguments();

  private OperateCommand(Terminal terminal, String operation) {
    super(terminal);
    this.operation = operation;
  }

  /** Offers failed jobs again. */
  @Command(name = "retry", description = "Offers failed jobs again, their failures counted anew.")
  static final class Retry extends OperateCommand {
    Retry(Terminal terminal) {
      super(terminal, "retry");
    }
  }

  /** Gives jobs up. */
  @Command(
      name = "cancel",
      description = "Fails pending and running jobs for good; a worker's late result is refused.")
  static final class Cancel extends OperateCommand {
    Cancel(Terminal terminal) {
      super(terminal, "cancel");
    }
  }

  /** Forgets jobs. */
  @Command(
      name = "delete",
      description = "Deletes jobs of any status, with their payloads, results and history.")
  static final class Delete extends OperateCommand {
    Delete(Terminal terminal) {
      super(terminal, "delete");
    }
  }

  /** Tries all of them, also when one is refused. */
  @Override
  protected final int run(JsonCalls calls) throws IOException {
    int code = ExitCode.OK;
    for (String key : jobs.read(terminal())) {
      try {
        JsonNode answer =
            calls.post(JobCalls.path(key) + "/" + operation, JsonNodeFactory.instance.objectNode());
        print(answer, Table.printable(key) + "  " + answer.path("status").asString("deleted"));
      } catch (RejectedException e) {
        if (!isAboutTheRequest(e)) {
          throw e;
        }
        terminal().err().println("millrace: " + Table.printable(String.valueOf(e.getMessage())));
        code = Math.max(code, e.status() == 404 ? ExitCode.NOTHING : ExitCode.REFUSED);
      }
    }
    return code;
  }
}
