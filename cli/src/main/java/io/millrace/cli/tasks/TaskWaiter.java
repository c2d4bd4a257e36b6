package io.millrace.cli.tasks;

import io.millrace.cli.remote.Waiter;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import io.millrace.queues.Status;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Waits for tasks of queues, up to a thousand in a request. */
final class TaskWaiter extends Waiter<Integer> {
  private static final int WINDOW = 1_000;

  private final JsonCalls calls;
  private final Terminal terminal;
  private final boolean json;
  private final boolean quiet;

  TaskWaiter(JsonCalls calls, Terminal terminal, Options options, boolean json, boolean quiet) {
    super(terminal, options.endNanos(), WINDOW);
    this.calls = calls;
    this.terminal = terminal;
    this.json = json;
    this.quiet = quiet;
  }

  @Override
  protected void round(Set<String> window, long waitMillis) {
    ObjectNode question = JsonNodeFactory.instance.objectNode();
    ArrayNode asked = question.putArray("ids");
    window.forEach(asked::add);
    question.put("timeout", waitMillis);
    JsonNode answer = calls.ask("/dci/tasks/wait", question, Duration.ofMillis(waitMillis));
    for (Map.Entry<String, JsonNode> task : answer.path("tasks").properties()) {
      String id = task.getKey();
      JsonNode status = task.getValue();
      if (status.isNull() && window.remove(id)) {
        absent("there is no task " + id);
      } else if (TasksCommands.Ends.isEnd(status.asInt(Status.QUEUED)) && window.remove(id)) {
        print(id, status.asInt());
        ended(status.asInt(), status.asInt() == Status.SUCCEEDED);
      }
    }
  }

  private void print(String id, int status) {
    if (!quiet) {
      String line = id + "  " + Status.name(status);
      terminal.out().println(json ? "{\"id\":\"" + id + "\",\"status\":" + status + "}" : line);
    }
  }

  @Override
  protected String word(Integer status) {
    return Status.name(status);
  }
}
