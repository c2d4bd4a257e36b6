package io.millrace.cli.queues;

import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Resumes a queue. */
@Command(
    name = "resume",
    description = {
      "Resumes a queue that nodes have stopped serving because they cannot start task runners.",
      "A halted queue gets back the threads that it had, and all nodes may claim its tasks again."
    })
final class QueueResumeCommand extends RemoteCommand {
  @Parameters(paramLabel = "QUEUE", description = "Its id or name.")
  private String queue = "";

  QueueResumeCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  protected int run(JsonCalls calls) {
    JsonNode before = QueueCalls.find(calls, queue);
    JsonNode answer =
        calls.post(QueueCalls.path(queue) + "/resume", JsonNodeFactory.instance.objectNode());
    boolean changed = answer.at("/MongoDB::UpdateResult/modified_count").asInt(0) > 0;
    JsonNode threads = before.at("/halted/threads");
    print(
        answer,
        !changed
            ? "nothing keeps queue " + queue + " from being served"
            : "resumed queue "
                + queue
                + (threads.isMissingNode() ? "" : ", threads " + threads.asInt()));
    return ExitCode.OK;
  }
}
