package io.millrace.cli.tasks;

import io.millrace.cli.remote.WaitOptions;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.ProgressBar;
import io.millrace.cli.terminal.Terminal;
import io.millrace.client.JsonCalls;
import io.millrace.queues.Status;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Waits for tasks to end, a window of them at a time, and tells how each did. */
final class Waiting {
  private static final int WINDOW = 1_000;
  private static final long WATCHED_ROUND_MILLIS = 500;
  private static final long ROUND_MILLIS = 20_000;

  private final JsonCalls calls;
  private final Terminal terminal;
  private final long endNanos;
  private final boolean json;
  private final boolean quiet;
  private final Map<Integer, Integer> counts = new TreeMap<>();
  private int ended;
  private int absent;

  Waiting(JsonCalls calls, Terminal terminal, WaitOptions options, boolean json, boolean quiet) {
    this.calls = calls;
    this.terminal = terminal;
    endNanos = options.endNanos();
    this.json = json;
    this.quiet = quiet;
  }

  /** Waits for all of them, no two the same, and gives the exit code that says how they did. */
  int until(TaskIds ids) {
    try (ProgressBar bar = new ProgressBar(terminal, "ended")) {
      await(ids, bar);
    }
    int pending = ids.size() - ended - absent;
    terminal.err().println(pending > 0 ? pending + " not ended, " + summary() : summary());
    if (absent > 0) {
      return ExitCode.NOTHING;
    }
    if (pending > 0) {
      return ExitCode.TIMED_OUT;
    }
    boolean well = counts.keySet().stream().allMatch(status -> status == Status.SUCCEEDED);
    return well ? ExitCode.OK : ExitCode.UNSUCCESSFUL;
  }

  private void await(TaskIds ids, ProgressBar bar) {
    long longest = terminal.watched() ? WATCHED_ROUND_MILLIS : ROUND_MILLIS;
    Set<String> window = new LinkedHashSet<>();
    int next = 0;
    long left = 1;
    while (ended + absent < ids.size() && left > 0) {
      while (window.size() < WINDOW && next < ids.size()) {
        window.add(ids.get(next++));
      }
      left = TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime());
      round(window, Math.clamp(left, 0, longest));
      bar.show(ended + absent, ids.size());
    }
  }

  private void round(Set<String> window, long waitMillis) {
    ObjectNode question = JsonNodeFactory.instance.objectNode();
    ArrayNode asked = question.putArray("ids");
    window.forEach(asked::add);
    question.put("timeout", waitMillis);
    JsonNode answer = calls.ask("/dci/tasks/wait", question, Duration.ofMillis(waitMillis));
    for (Map.Entry<String, JsonNode> task : answer.path("tasks").properties()) {
      String id = task.getKey();
      JsonNode status = task.getValue();
      if (status.isNull() && window.remove(id)) {
        absent++;
        terminal.err().println("millrace: there is no task " + id);
      } else if (Ends.isEnd(status.asInt(Status.QUEUED)) && window.remove(id)) {
        ended(id, status.asInt());
      }
    }
  }

  private void ended(String id, int status) {
    ended++;
    counts.merge(status, 1, Integer::sum);
    if (!quiet) {
      terminal
          .out()
          .println(
              json
                  ? "{\"id\":\"" + id + "\",\"status\":" + status + "}"
                  : id + "  " + Status.name(status));
    }
  }

  private String summary() {
    return counts.isEmpty()
        ? "none ended"
        : counts.entrySet().stream()
            .map(entry -> entry.getValue() + " " + Status.name(entry.getKey()))
            .collect(Collectors.joining(", "));
  }
}
