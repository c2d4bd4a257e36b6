package io.millrace.cli.tasks;

import io.millrace.cli.queues.QueuesCommands;
import io.millrace.cli.remote.Arguments;
import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Searches tasks. */
@Command(name = "search", aliases = "list", description = "Lists the tasks that match all options.")
final class SearchCommand extends ServerCommand.Reading implements Callable<Integer> {
  private static final String PATH = "/dci/tasks/search";
  private static final int PAGE = 100;

  @Mixin private FilterOptions filter = new FilterOptions();

  @Option(
      names = {"-n", "--limit"},
      paramLabel = "N",
      defaultValue = "20",
      description = "The most tasks to list; 0 for all. Default: ${DEFAULT-VALUE}")
  private String most = "20";

  @Option(
      names = "--oldest",
      description = "Lists the oldest tasks first. Default: the newest first")
  private boolean oldest;

  @Option(names = "--count", description = "Prints only the number of tasks.")
  private boolean count;

  @Option(names = "--ids", description = "Prints only ids, one per line.")
  private boolean idsOnly;

  @Option(
      names = "--archived",
      description =
          "Also searches the archive, which takes longer. It is always searched for a task id in"
              + " --filter.")
  private boolean archived;

  @Option(names = "--full", description = "With --json, includes the output of the tasks.")
  private boolean full;

  @Override
  public Integer call() {
    return perform(calls -> {
      int limit = Arguments.count("--limit", most);
      ObjectNode conditions = filter.read(calls);
      if (count) {
        ObjectNode question = question(conditions).put("count", true);
        JsonNode response = calls.read(PATH, question);
        print(response, response.path("count").asString());
        return;
      }
      pages(calls, conditions, limit);
    });
  }

  private ObjectNode question(ObjectNode conditions) {
    ObjectNode question = ServerCommand.object();
    if (archived) {
      question.put("archived", true);
    }
    question.set("filter", conditions);
    return question;
  }

  /** Requests page by page, so that memory does not grow. */
  private void pages(JsonCalls calls, ObjectNode conditions, int limit) {
    TaskCalls.TaskTable table = json() || idsOnly ? null : new TaskCalls.TaskTable(calls);
    ObjectNode onPage = conditions;
    long printed = 0;
    while (limit == 0 || printed < limit) {
      long left = limit == 0 ? PAGE : Math.min(PAGE, limit - printed);
      List<JsonNode> page = page(calls, onPage, left);
      for (JsonNode task : page) {
        if (json()) {
          out().print((printed == 0 ? "[" : ",\n") + task);
        } else if (idsOnly) {
          out().println(Fields.id(task));
        }
        printed++;
      }
      if (table != null && (!page.isEmpty() || printed == 0)) {
        table.print(out(), page);
      }
      if (page.size() < left) {
        break;
      }
      onPage = FilterOptions.beyond(conditions, Fields.id(page.getLast()), oldest);
    }
    if (json()) {
      out().println(printed == 0 ? "[]" : "]");
    }
  }

  private List<JsonNode> page(JsonCalls calls, ObjectNode conditions, long size) {
    ObjectNode question = question(conditions).put("terse", !full);
    ObjectNode options = question.putObject("options").put("limit", size);
    options.putObject("sort").put("_id", oldest ? 1 : -1);
    List<JsonNode> page = new ArrayList<>();
    calls.read(PATH, question).forEach(page::add);
    return page;
  }

  /** Options that select tasks. */
  private static final class FilterOptions {
    @Option(
        names = {"-Q", "--queue"},
        paramLabel = "QUEUE",
        description = "Only tasks of this queue.")
    private @Nullable String queue;

    @Option(
        names = {"-s", "--status"},
        split = ",",
        paramLabel = "STATUS",
        converter = TaskCalls.StatusWord.class,
        description = "Only tasks with one of these statuses, for example failed or -7.")
    private List<Integer> statuses = List.of();

    @Option(
        names = "--node",
        paramLabel = "NODE",
        description = "Only tasks that run or ran on this node.")
    private @Nullable String node;

    @Option(
        names = "--param",
        paramLabel = "KEY=VALUE",
        description = "Only tasks with this param; a dot in KEY leads to a nested value.")
    private List<String> params = List.of();

    @Option(
        names = "--filter",
        paramLabel = "JSON",
        description =
            "Only tasks that match this filter, for example '{\"mtime\":{\"$gt\":1767225600}}'.")
    private @Nullable String filter;

    /** The filter in the form of the API. */
    ObjectNode read(JsonCalls calls) {
      ObjectNode conditions = ServerCommand.object();
      if (queue != null) {
        conditions.put("queue", Fields.id(QueuesCommands.find(calls, queue)));
      }
      if (statuses.size() == 1) {
        conditions.put("status", statuses.getFirst());
      } else if (!statuses.isEmpty()) {
        ArrayNode in = conditions.putObject("status").putArray("$in");
        statuses.forEach(in::add);
      }
      if (node != null) {
        if (node.isBlank()) {
          throw new UsageException("--node is empty");
        }
        conditions.put("node", node);
      }
      for (Map.Entry<String, JsonNode> param : Arguments.object(params).properties()) {
        conditions.set("params." + param.getKey(), param.getValue());
      }
      if (filter == null) {
        return conditions;
      }
      ObjectNode given = Arguments.parseObject("--filter", filter);
      return conditions.isEmpty() ? given : both(conditions, given);
    }

    /** The same filter, but only tasks after {@code id} in the given order. */
    static ObjectNode beyond(ObjectNode conditions, String id, boolean ascending) {
      ObjectNode behind = ServerCommand.object();
      behind.putObject("_id").putObject(ascending ? "$gt" : "$lt").put("$oid", id);
      return both(conditions, behind);
    }

    private static ObjectNode both(ObjectNode one, ObjectNode other) {
      ObjectNode both = ServerCommand.object();
      both.putArray("$and").add(one).add(other);
      return both;
    }
  }
}
