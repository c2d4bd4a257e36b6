package io.millrace.cli.tasks;

import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.remote.Waiter;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import io.millrace.queues.Status;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.AbstractList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Waits for queue tasks, up to 1000 in a request. */
final class TaskWaiter extends Waiter<Integer> {
  /** The exit codes of commands that wait for tasks. */
  static final Map<String, String> EXIT_CODES =
      Map.of(
          "6", "a task ended with another status than succeeded",
          "7", "--timeout expired before all tasks had ended");

  private static final int WINDOW = 1_000;
  private static final Duration SILENCE = Duration.ofSeconds(10);

  private final JsonCalls calls;
  private final boolean quiet;

  TaskWaiter(JsonCalls calls, ServerCommand server, Options options, boolean quiet) {
    super(server, calls, "task", options.endNanos(), WINDOW);
    this.calls = calls;
    this.quiet = quiet;
  }

  /** Whether a task with this status has ended or is held back. */
  static boolean isEnd(int status) {
    return Status.isFinished(status) || Status.isHeld(status);
  }

  /** The exit code for one task. */
  static int exitCode(int status) {
    return status == Status.SUCCEEDED ? ExitCode.OK : ExitCode.UNSUCCESSFUL;
  }

  @Override
  protected void round(Set<String> window, long waitMillis) {
    ObjectNode question = ServerCommand.object().put("timeout", waitMillis);
    window.forEach(question.putArray("ids")::add);
    JsonNode response = calls.ask("/dci/tasks/wait", question, Duration.ofMillis(waitMillis));
    for (Map.Entry<String, JsonNode> task : response.path("tasks").properties()) {
      String id = task.getKey();
      int status = task.getValue().asInt(Status.QUEUED);
      if (task.getValue().isNull() && window.remove(id)) {
        absent("there is no task " + id);
      } else if (isEnd(status) && window.remove(id)) {
        if (!quiet) {
          JsonNode end = ServerCommand.object().put("id", id).put("status", status);
          server().print(end, id + "  " + Status.name(status));
        }
        if (status != Status.SUCCEEDED && wantsDetails()) {
          printFailure(id);
        }
        ended(status, status == Status.SUCCEEDED);
      }
    }
  }

  private void printFailure(String id) {
    try {
      String reason = calls.get(TaskCalls.path(id)).path("reason").asString("");
      failed(id, reason, lastOfStderr(id));
    } catch (RejectedException _) {
      // It is gone already.
    }
  }

  private String lastOfStderr(String id) {
    try (InputStream stream = calls.stream(TaskCalls.path(id) + "/stderr?last=4096", SILENCE)) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException _) {
      return "";
    }
  }

  @Override
  protected String word(Integer status) {
    return Status.name(status);
  }

  /** A list of task ids that takes twelve bytes for each, since there may be millions. */
  static final class Ids extends AbstractList<String> {
    private static final int BYTES = 12;
    private static final HexFormat HEX = HexFormat.of();

    private byte[] bytes = new byte[64 * BYTES];
    private int size;

    /** Adds an id of 24 hex digits. */
    @Override
    public boolean add(String id) {
      if ((size + 1) * BYTES > bytes.length) {
        bytes = Arrays.copyOf(bytes, 2 * bytes.length);
      }
      byte[] parsed = HEX.parseHex(id);
      System.arraycopy(parsed, 0, bytes, size * BYTES, BYTES);
      size++;
      return true;
    }

    @Override
    public int size() {
      return size;
    }

    @Override
    public String get(int index) {
      return HEX.formatHex(bytes, index * BYTES, (index + 1) * BYTES);
    }
  }
}
