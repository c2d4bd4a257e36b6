package io.millrace.cli.bulk;

import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.ProgressBar;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import io.millrace.work.Backoff;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The commands on bulk actions, under one name. */
@Command(
    name = "bulk",
    description = "Retries, cancels, deletes or moves all work that a filter chooses.",
    addMethodSubcommands = false)
public final class BulkCommands extends CommandGroup {
  private static final String PATH = "/bulk";
  private static final int MAX_ANSWER = 100;

  /** The group with its commands. */
  public CommandLine group() {
    CommandLine group = new CommandLine(this);
    add(
        group,
        Map.of(Integer.toString(ExitCode.UNSUCCESSFUL), "the bulk action failed or was cancelled"),
        "tasks",
        "jobs",
        "nodes");
    add(group, Map.of(), "list", "show", "cancel", "delete");
    return group;
  }

  /** What all bulk actions have in common. */
  static final class Common {
    @Option(
        names = "--filter",
        paramLabel = "JSON",
        description = "A filter as in searches; other options narrow it further.")
    private @Nullable String filter;

    @Option(names = "--all", description = "All items, without a filter.")
    private boolean all;

    @Option(
        names = "--older",
        paramLabel = "DURATION",
        description =
            "Only tasks that have not changed for so long, jobs that were submitted or nodes that"
                + " were added so long ago, for example 2h.")
    private @Nullable String older;

    @Option(names = "--dry-run", description = "Shows what would change, and changes nothing.")
    private boolean dryRun;

    @Option(
        names = {"-y", "--yes"},
        description = "Starts without asking.")
    private boolean yes;

    @Option(names = "--wait", description = "Waits for the end.")
    private boolean wait;

    private void add(ArrayNode conditions, String time) {
      if (filter != null) {
        conditions.add(parse(filter));
      }
      if (older != null) {
        conditions.addObject().putObject(time).putObject("$lt").put("$ago", older);
      }
    }

    private static JsonNode parse(String text) {
      try {
        return JsonMapper.shared().readTree(text);
      } catch (JacksonException e) {
        throw new UsageException("--filter is no JSON: " + e.getOriginalMessage(), e);
      }
    }
  }

  @Command(
      name = "tasks",
      description = {
        "Performs an action on queue tasks: retry, requeue, cancel, block, terminate, delete or"
            + " move.",
        "Example: millrace bulk tasks retry --queue mail --older 2h"
      })
  int tasks(
      @Mixin ServerCommand server,
      @Parameters(index = "0", paramLabel = "ACTION", description = "What to do with each task.")
          String action,
      @Mixin Common common,
      @Option(
              names = {"-Q", "--queue"},
              paramLabel = "QUEUE",
              description = "Only tasks of this queue.")
          @Nullable String queue,
      @Option(
              names = {"-s", "--status"},
              paramLabel = "STATUS[,STATUS…]",
              description = "Only with this status, for example failed or -7.")
          @Nullable String status,
      @Option(names = "--node", paramLabel = "NODE", description = "Only tasks that ran there.")
          @Nullable String node,
      @Option(
              names = {"-p", "--param"},
              paramLabel = "NAME=VALUE",
              description = "Only tasks with this param. Can be given several times.")
          @Nullable Map<String, String> params,
      @Option(
              names = "--reason",
              paramLabel = "TEXT",
              description = "The reason of cancel or block.")
          @Nullable String reason,
      @Option(names = "--to", paramLabel = "QUEUE", description = "The queue to which to move.")
          @Nullable String to) {
    ArrayNode conditions = JsonMapper.shared().createArrayNode();
    oneOf(conditions, "queue", queue);
    oneOf(conditions, "status", status);
    oneOf(conditions, "node", node);
    if (params != null) {
      params.forEach((name, value) -> param(conditions, name, value));
    }
    common.add(conditions, "mtime");
    ObjectNode order = order("tasks", action, conditions, common);
    ObjectNode options = order.putObject("options");
    if (reason != null) {
      options.put("reason", reason);
    }
    if (to != null) {
      options.put("queue", to);
    }
    return run(server, order, common);
  }

  @Command(
      name = "jobs",
      description = {
        "Performs an action on jobs: retry, cancel, delete or move.",
        "Example: millrace bulk jobs retry --type render --status failed --older 1d"
      })
  int jobs(
      @Mixin ServerCommand server,
      @Parameters(index = "0", paramLabel = "ACTION", description = "What to do with each job.")
          String action,
      @Mixin Common common,
      @Option(names = "--type", paramLabel = "TYPE[,TYPE…]", description = "Only of this type.")
          @Nullable String type,
      @Option(
              names = {"-s", "--status"},
              paramLabel = "STATUS[,STATUS…]",
              description = "Only with this status: pending, running, done or failed.")
          @Nullable String status,
      @Option(
              names = "--priority",
              paramLabel = "PRIORITY",
              description = "Only immediate or only batch jobs.")
          @Nullable String priority,
      @Option(names = "--batch", paramLabel = "N", description = "Only jobs of this batch.")
          @Nullable Long batch,
      @Option(names = "--worker", paramLabel = "WORKER", description = "Only jobs of this worker.")
          @Nullable String worker,
      @Option(names = "--to", paramLabel = "TYPE", description = "The type to which to move.")
          @Nullable String to) {
    ArrayNode conditions = JsonMapper.shared().createArrayNode();
    oneOf(conditions, "type", type);
    oneOf(conditions, "status", status);
    oneOf(conditions, "priority", priority);
    if (batch != null) {
      conditions.addObject().put("batch", batch);
    }
    if (worker != null) {
      conditions.addObject().put("worker", worker);
    }
    common.add(conditions, "submitted");
    ObjectNode order = order("jobs", action, conditions, common);
    if (to != null) {
      order.putObject("options").put("type", to);
    }
    return run(server, order, common);
  }

  @Command(
      name = "nodes",
      description = {
        "Performs an action on nodes of the graph: retry, kill or delete. What is done to a group"
            + " is done to all nodes in it.",
        "Example: millrace bulk nodes retry --below 12 --type command"
      })
  int nodes(
      @Mixin ServerCommand server,
      @Parameters(index = "0", paramLabel = "ACTION", description = "What to do with each node.")
          String action,
      @Mixin Common common,
      @Option(names = "--type", paramLabel = "TYPE[,TYPE…]", description = "Only of this type.")
          @Nullable String type,
      @Option(
              names = {"-s", "--state"},
              paramLabel = "STATE[,STATE…]",
              description = "Only in this state, for example failed or ready.")
          @Nullable String state,
      @Option(names = "--name", paramLabel = "NAME", description = "Only with this name.")
          @Nullable String name,
      @Option(
              names = "--below",
              paramLabel = "ID",
              description = "Only nodes below this one, directly or not.")
          @Nullable Long below,
      @Option(
              names = "--with-below",
              description = "With delete: all nodes below those that are chosen, too.")
          boolean withBelow) {
    ArrayNode conditions = JsonMapper.shared().createArrayNode();
    oneOf(conditions, "type", type);
    oneOf(conditions, "state", state);
    if (name != null) {
      conditions.addObject().put("name", name);
    }
    if (below != null) {
      conditions.addObject().put("below", below);
    }
    common.add(conditions, "created");
    ObjectNode order = order("nodes", action, conditions, common);
    if (withBelow) {
      order.putObject("options").put("below", true);
    }
    return run(server, order, common);
  }

  /** One of several values, separated by commas; whole numbers are numbers. */
  private static void oneOf(ArrayNode conditions, String field, @Nullable String texts) {
    if (texts == null) {
      return;
    }
    ArrayNode values = conditions.addObject().putObject(field).putArray("$in");
    for (String text : texts.split(",", -1)) {
      if (text.matches("-?[0-9]{1,9}")) {
        values.add(Integer.parseInt(text));
      } else {
        values.add(text);
      }
    }
  }

  /** A text is also the number or the boolean that it reads as. */
  private static void param(ArrayNode conditions, String name, String text) {
    ArrayNode values = conditions.addObject().putObject("params." + name).putArray("$in");
    values.add(text);
    try {
      JsonNode value = JsonMapper.shared().readTree(text);
      if (value.isNumber() || value.isBoolean()) {
        values.add(value);
      }
    } catch (JacksonException _) {
      // It is a text only.
    }
  }

  private static ObjectNode order(String kind, String action, ArrayNode conditions, Common common) {
    ObjectNode order = ServerCommand.object().put("kind", kind).put("action", action);
    if (conditions.size() == 1) {
      order.set("filter", conditions.get(0));
    } else if (!conditions.isEmpty()) {
      order.putObject("filter").set("$and", conditions);
    }
    return order.put("all", common.all);
  }

  private static int run(ServerCommand server, ObjectNode order, Common common) {
    return server.run(calls -> {
      if (common.dryRun || !common.yes) {
        JsonNode preview = calls.post(PATH, order.deepCopy().put("dry_run", true));
        if (common.dryRun) {
          show(server, preview);
          return ExitCode.OK;
        }
        if (!isConfirmed(server.terminal(), question(preview))) {
          throw new CommandException(
              ExitCode.FAILURE, "nothing was changed; answer y, or use --yes");
        }
      }
      JsonNode started = calls.post(PATH, order);
      if (!common.wait) {
        server.print(
            started,
            "started bulk action %s on %s"
                .formatted(
                    started.path("id").asString(), count(started.path("total").asLong(), order)));
        return ExitCode.OK;
      }
      JsonNode ended = await(server.terminal(), calls, started);
      show(server, ended);
      return ended.path("state").asString().equals("done") ? ExitCode.OK : ExitCode.UNSUCCESSFUL;
    });
  }

  private static String question(JsonNode preview) {
    return "%s %s? [y/N] "
        .formatted(
            preview.path("action").asString(), count(preview.path("total").asLong(), preview));
  }

  private static String count(long total, JsonNode order) {
    String kind = order.path("kind").asString();
    return total + " " + (total == 1 ? kind.substring(0, kind.length() - 1) : kind);
  }

  private static boolean isConfirmed(Terminal terminal, String question) throws IOException {
    terminal.err().print(Table.printable(question));
    terminal.err().flush();
    String answer = line(terminal.in()).strip().toLowerCase(Locale.ROOT);
    return List.of("y", "yes").contains(answer);
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = in.read(); next >= 0 && next != '\n'; next = in.read()) {
      if (line.length() < MAX_ANSWER) {
        line.append((char) next);
      }
    }
    return line.toString();
  }

  private static JsonNode await(Terminal terminal, JsonCalls calls, JsonNode started)
      throws InterruptedException {
    Backoff backoff = new Backoff(Duration.ofMillis(50), Duration.ofSeconds(1));
    try (ProgressBar bar = new ProgressBar(terminal, started.path("action").asString())) {
      JsonNode action = started;
      while (action.path("state").asString().equals("running")) {
        backoff.pause();
        action = calls.get(path(started.path("id").asString()));
        bar.show(
            action.path("done").asLong() + action.path("skipped").asLong(),
            action.path("total").asLong());
      }
      return action;
    }
  }

  /** Prints an action or a preview, with its items as a table. */
  private static void show(ServerCommand server, JsonNode action) {
    if (server.json()) {
      server.printFields(action);
      return;
    }
    ObjectNode fields = ((ObjectNode) action).deepCopy();
    JsonNode examples = fields.remove("examples");
    server.printFields(fields);
    if (examples != null && !examples.isEmpty()) {
      server.out().println();
      Fields.Columns columns = new Fields.Columns().field("ID", "id");
      server.printRows(
          examples,
          examples.get(0).has("reason") ? columns.fields("reason") : columns.fields("summary"));
    }
  }

  private static String path(String id) {
    return PATH + "/" + JsonCalls.part(id);
  }

  @Command(name = "list", description = "Lists bulk actions, the newest first.")
  int list(@Mixin ServerCommand server) {
    return server.perform(calls ->
        server.printRows(
            calls.get(PATH + "?limit=1000").path("actions"),
            new Fields.Columns()
                .fields("id", "kind", "action", "state", "done", "skipped", "total", "started")));
  }

  @Command(name = "show", description = "Shows a bulk action, and what it has left alone.")
  int show(
      @Mixin ServerCommand server,
      @Parameters(index = "0", paramLabel = "ID", description = "The id.") String id) {
    return server.perform(calls -> show(server, ServerCommand.lookUp(() -> calls.get(path(id)))));
  }

  @Command(
      name = "cancel",
      description = "Cancels bulk actions; what they have changed stays changed.")
  int cancel(
      @Mixin ServerCommand server,
      @Parameters(arity = "1..*", paramLabel = "ID", description = "The ids.") List<String> ids) {
    return server.run(calls ->
        server.each(
            ids,
            id -> calls.post(path(id) + "/cancel", new byte[0]),
            action -> "cancelled after " + action.path("done").asLong()));
  }

  @Command(name = "delete", description = "Forgets bulk actions that have ended.")
  int delete(
      @Mixin ServerCommand server,
      @Parameters(arity = "1..*", paramLabel = "ID", description = "The ids.") List<String> ids) {
    return server.run(calls -> server.each(ids, id -> calls.delete(path(id)), _ -> "deleted"));
  }
}
