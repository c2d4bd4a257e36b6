package io.millrace.cli.tasks;

import io.millrace.cli.queues.QueuesCommands;
import io.millrace.cli.remote.Arguments;
import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Status;
import java.io.PrintStream;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;
import tools.jackson.databind.JsonNode;

/** Calls about single tasks that several commands share. */
final class TaskCalls {
  private TaskCalls() {}

  /** The path of a task. */
  static String path(String id) {
    return "/dci/tasks/id/" + JsonCalls.part(id);
  }

  /**
   * A task by id.
   *
   * @throws io.millrace.cli.terminal.CommandException if there is no such task
   */
  static JsonNode find(JsonCalls calls, String id) {
    return ServerCommand.lookUp(() -> calls.get(path(id)));
  }

  /** The task ids given to a command. */
  static final class Ids {
    @Parameters(
        arity = "1..*",
        paramLabel = "ID",
        description =
            "Ids of tasks, 24 hex digits each; - reads them from standard input, one per line.")
    private List<String> ids = List.of();

    /**
     * The ids in the given order.
     *
     * @throws UsageException if one of them is not a task id
     */
    List<String> read(Terminal terminal) {
      return Arguments.lines(ids, terminal, Ids::checked);
    }

    /**
     * Checks an id and returns it.
     *
     * @throws UsageException if it is not a task id
     */
    static String checked(String id) {
      if (!ObjectId.isValid(id)) {
        throw new UsageException("a task's id is 24 hex digits, not '" + id + "'");
      }
      return id;
    }
  }

  /** Parses a status: a number, or a name such as {@code queued}. */
  static final class StatusWord implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      for (int status = Status.ORPHANED; status <= Status.FAILED; status++) {
        if (Status.name(status).equalsIgnoreCase(text)) {
          return status;
        }
      }
      try {
        return Integer.valueOf(text);
      } catch (NumberFormatException _) {
        throw new TypeConversionException(
            "a status is a number, or a word such as queued, running or succeeded; not '"
                + text
                + "'");
      }
    }
  }

  /** Formats tasks for people: the names of queues, statuses as words, times as dates. */
  static final class TaskTable {
    /** A larger number is in milliseconds. */
    private static final double MAX_SECONDS = 9_999_999_999.0;

    private static final int SHOWN = 60;

    private final Map<String, String> queues = new HashMap<>();

    /** Requests the names of the queues. */
    TaskTable(JsonCalls calls) {
      for (JsonNode queue : QueuesCommands.all(calls)) {
        queues.put(Fields.id(queue), Fields.text(queue.path("name")));
      }
    }

    /** Prints tasks, one per line. */
    void print(PrintStream out, List<JsonNode> tasks) {
      Table table = new Table("ID", "QUEUE", "STATUS", "NODE", "CREATED", "CHANGED", "PARAMS");
      for (JsonNode task : tasks) {
        table.row(
            Fields.id(task),
            text("queue", task.path("queue")),
            text("status", task.path("status")),
            text("node", task.path("node")),
            text("ctime", task.path("ctime")),
            text("mtime", task.path("mtime")),
            shortened(Fields.text(task.path("params"))));
      }
      table.print(out);
    }

    /** Formats a field of a task. */
    String text(String field, JsonNode value) {
      return switch (field) {
        case "queue" -> queues.getOrDefault(Fields.text(value), Fields.text(value));
        case "status" -> value.isIntegralNumber() ? status(value.asInt()) : Fields.text(value);
        case "ctime", "mtime", "not_before", "wait_end", "total_end", "started", "ended" ->
            time(value);
        default -> Fields.text(value);
      };
    }

    private static String status(int status) {
      String name = Status.name(status);
      return name.endsWith(")") ? name : name + " (" + status + ")";
    }

    private static String time(JsonNode value) {
      if (!value.isNumber()) {
        return Fields.text(value);
      }
      // A single task has times in milliseconds, a search in seconds with decimals.
      boolean seconds = value.asDouble() <= MAX_SECONDS;
      long millis = seconds ? Math.round(value.asDouble() * 1e3) : value.asLong();
      return Instant.ofEpochMilli(millis).toString();
    }

    private static String shortened(String text) {
      return text.codePointCount(0, text.length()) <= SHOWN
          ? text
          : text.substring(0, text.offsetByCodePoints(0, SHOWN)) + "…";
    }
  }
}
