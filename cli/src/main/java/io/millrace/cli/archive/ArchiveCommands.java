package io.millrace.cli.archive;

import io.millrace.cli.remote.Arguments;
import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.commons.csv.CSVFormat;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The commands on archived work, under one name. */
@Command(
    name = "archive",
    description = "Lists, shows and exports finished work that has left the store.",
    addMethodSubcommands = false)
public final class ArchiveCommands extends CommandGroup {
  private static final String PATH = "/archive/";
  private static final String RETENTION = "/retention/jobs";
  private static final int PAGE = 1_000;
  private static final int FULL_PAGE = 100;

  private static final Map<String, Fields.Columns> COLUMNS =
      Map.of(
          "tasks",
          new Fields.Columns().fields("id", "queue", "status", "node", "created", "finished"),
          "jobs",
          new Fields.Columns()
              .fields("id")
              .field("KEY", "job_key")
              .fields("type", "status", "worker", "submitted", "finished"),
          "graphs",
          new Fields.Columns()
              .fields("id", "graph", "name", "type", "state", "reason", "finished"));

  /** The group with its commands. */
  public CommandLine group() {
    return with("list", "show", "export", "keep");
  }

  /** Which kind of work. */
  static final class Kind {
    @Parameters(index = "0", paramLabel = "tasks|jobs|graphs", description = "The kind of work.")
    private String word = "";

    String word() {
      if (!COLUMNS.containsKey(word)) {
        throw new UsageException("the kind of archived work is tasks, jobs or graphs, not " + word);
      }
      return word;
    }
  }

  /** Which of them. */
  static final class Filters {
    @Option(
        names = {"-Q", "--queue"},
        paramLabel = "QUEUE",
        description = "Only tasks of this queue.")
    private @Nullable String queue;

    @Option(names = "--node", paramLabel = "NODE", description = "Only tasks that ran there.")
    private @Nullable String node;

    @Option(
        names = {"-s", "--status"},
        paramLabel = "STATUS[,STATUS…]",
        description = "Only with this status: a number for tasks, done or failed for jobs.")
    private @Nullable String status;

    @Option(names = "--key", paramLabel = "KEY", description = "Only jobs with this key.")
    private @Nullable String key;

    @Option(
        names = "--type",
        paramLabel = "TYPE",
        description = "Only jobs or nodes of graphs of this type.")
    private @Nullable String type;

    @Option(
        names = "--priority",
        paramLabel = "PRIORITY",
        description = "Only immediate or only batch jobs.")
    private @Nullable String priority;

    @Option(names = "--batch", paramLabel = "N", description = "Only jobs of this batch.")
    private @Nullable String batch;

    @Option(names = "--worker", paramLabel = "WORKER", description = "Only jobs of this worker.")
    private @Nullable String worker;

    @Option(
        names = "--graph",
        paramLabel = "ID",
        description = "Only nodes of the graph whose first node has this id.")
    private @Nullable String graph;

    @Option(
        names = "--below",
        paramLabel = "ID",
        description = "Only this node and the nodes below it.")
    private @Nullable String below;

    @Option(names = "--name", paramLabel = "NAME", description = "Only nodes with this name.")
    private @Nullable String name;

    @Option(
        names = "--state",
        paramLabel = "STATE[,STATE…]",
        description = "Only nodes in this state, for example finished or failed.")
    private @Nullable String state;

    @Option(
        names = "--since",
        paramLabel = "TIME",
        description = "Only what finished at this time or later, as in 2026-12-24T18:00:00Z.")
    private @Nullable String since;

    @Option(
        names = "--until",
        paramLabel = "TIME",
        description = "Only what finished before this time.")
    private @Nullable String until;

    @Option(names = "--oldest", description = "The oldest first.")
    private boolean oldest;

    private String query() {
      Map<String, @Nullable String> given = new LinkedHashMap<>();
      given.put("queue", queue);
      given.put("node", node);
      given.put("status", status);
      given.put("key", key);
      given.put("type", type);
      given.put("priority", priority);
      given.put("batch", batch);
      given.put("worker", worker);
      given.put("graph", graph);
      given.put("below", below);
      given.put("name", name);
      given.put("state", state);
      given.put("since", since);
      given.put("until", until);
      StringBuilder query = new StringBuilder("?order=").append(oldest ? "oldest" : "newest");
      given.forEach((name, value) -> {
        if (value != null) {
          query.append('&').append(name).append('=').append(JsonCalls.part(value));
        }
      });
      return query.toString();
    }
  }

  /** Reads page by page, and passes on each item. */
  private static void each(
      JsonCalls calls, String kind, String query, int page, long most, Consumer<JsonNode> look) {
    String after = "";
    long left = most;
    do {
      String next = after.isEmpty() ? "" : "&after=" + JsonCalls.part(after);
      JsonNode response = calls.get(PATH + kind + query + next + "&limit=" + Math.min(page, left));
      response.path(kind).forEach(look);
      left -= response.path(kind).size();
      after = response.path("next").asString("");
    } while (!after.isEmpty() && left > 0);
  }

  @Command(
      name = "list",
      description = {
        "Lists archived tasks, jobs or nodes of graphs, those that finished last first.",
        "Example: millrace archive list jobs --type render --status failed"
      })
  int list(
      @Mixin ServerCommand server,
      @Mixin Kind kind,
      @Mixin Filters filters,
      @Option(
              names = {"-n", "--limit"},
              paramLabel = "N",
              description = "How many, 0 for all. Default: 20",
              defaultValue = "20")
          long limit) {
    if (limit < 0) {
      throw new UsageException("--limit must not be negative");
    }
    String word = kind.word();
    return server.perform(calls -> {
      List<JsonNode> rows = new ArrayList<>();
      each(calls, word, filters.query(), PAGE, limit == 0 ? Long.MAX_VALUE : limit, rows::add);
      Fields.Columns columns = COLUMNS.get(word);
      if (columns != null) {
        server.printRows(rows, columns);
      }
    });
  }

  @Command(
      name = "show",
      description =
          "Shows an archived task, job or node of a graph with everything that was stored of it.")
  int show(
      @Mixin ServerCommand server,
      @Mixin Kind kind,
      @Parameters(index = "1", paramLabel = "ID", description = "The id, or the key of a job.")
          String id) {
    String word = kind.word();
    return server.perform(calls ->
        server.printFields(
            ServerCommand.lookUp(() -> calls.get(PATH + word + "/" + JsonCalls.part(id)))));
  }

  @Command(
      name = "export",
      description = {
        "Prints all archived tasks, jobs or nodes of graphs that match: a line of JSON for each,"
            + " with everything that was stored of it, or CSV with the columns alone.",
        "Example: millrace archive export jobs --since 2026-01-01T00:00:00Z --csv > jobs.csv"
      })
  int export(
      @Mixin ServerCommand server,
      @Mixin Kind kind,
      @Mixin Filters filters,
      @Option(names = "--csv", description = "Prints CSV.") boolean csv) {
    String word = kind.word();
    return server.perform(calls -> {
      if (csv) {
        exportCsv(calls, word, filters.query());
      } else {
        String query = filters.query() + "&full=true";
        each(calls, word, query, FULL_PAGE, Long.MAX_VALUE, row -> out().println(row));
      }
    });
  }

  @Command(
      name = "keep",
      description = {
        "Sets how long finished jobs of a type stay in the store, while the server runs, or lists"
            + " what is set.",
        "Example: millrace archive keep render --keep-finished 7d --keep-count 1000"
      })
  int keep(
      @Mixin ServerCommand server,
      @Parameters(
              arity = "0..1",
              paramLabel = "TYPE",
              description = "The job type; - for jobs without a type. Lists all if it is left out.")
          @Nullable String type,
      @Option(
              names = "--keep-finished",
              paramLabel = "TIME",
              description = "How long a job stays after its end, as in 7d.")
          @Nullable String age,
      @Option(names = "--keep-count", paramLabel = "N", description = "How many jobs stay.")
          @Nullable String count,
      @Option(names = "--default", description = "As the configuration says again.")
          boolean asConfigured) {
    boolean sets = age != null || count != null;
    if (type == null ? sets || asConfigured : sets == asConfigured) {
      throw new UsageException(
          "keep needs a TYPE with --keep-finished, --keep-count or --default, or nothing to list");
    }
    if (type == null) {
      return server.perform(calls -> {
        List<JsonNode> rows = new ArrayList<>();
        calls.get(RETENTION).path("types").forEach(rows::add);
        server.printRows(rows, new Fields.Columns().fields("type", "keep_finished", "keep_count"));
      });
    }
    String path = RETENTION + "/" + JsonCalls.part(type);
    ObjectNode retention = ServerCommand.object();
    if (age != null) {
      retention.put("keep_finished", age);
    }
    if (count != null) {
      retention.put("keep_count", Arguments.count("--keep-count", count));
    }
    return server.perform(calls ->
        server.print(
            asConfigured ? calls.delete(path) : calls.put(path, retention),
            "set how long jobs of type " + type + " stay"));
  }

  private void exportCsv(JsonCalls calls, String kind, String query) {
    boolean[] begun = {false};
    each(
        calls,
        kind,
        query,
        PAGE,
        Long.MAX_VALUE,
        row -> {
          if (!begun[0]) {
            printCsv(row.propertyNames().toArray());
            begun[0] = true;
          }
          printCsv(
              row.valueStream()
                  .<@Nullable Object>map(value -> value.isNull() ? null : value.asString())
                  .toArray());
        });
    out().flush();
  }

  private void printCsv(@Nullable Object[] values) {
    out().print(CSVFormat.RFC4180.format(values) + CSVFormat.RFC4180.getRecordSeparator());
  }
}
