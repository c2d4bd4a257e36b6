package io.millrace.cli.queues;

import io.millrace.cli.remote.Arguments;
import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.PolicyOptions;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import io.millrace.queues.Queue.Sort;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code millrace queues}: the commands on queues. */
@Command(
    name = "queues",
    description = "Lists, creates, changes, resumes, deletes and moves queues.",
    addMethodSubcommands = false)
public final class QueuesCommands extends CommandGroup {
  private static final String PATH = "/dci/queues";
  private static final Fields.Columns COLUMNS =
      new Fields.Columns()
          .with("ID", Fields::id)
          .fields("name", "plugin", "threads", "queued", "running", "completed")
          .with("HEALTH", QueuesCommands::health);

  /** The group with its commands. */
  public CommandLine group() {
    CommandLine group = with("list", "show", "create", "set", "resume", "delete");
    add(
        group,
        Map.of("6", "something could not be moved"),
        new MoveCommand.Import(),
        new MoveCommand.Export());
    return group;
  }

  /** All queues of a server, with the number of their tasks. */
  public static JsonNode all(JsonCalls calls) {
    return calls.read(PATH);
  }

  /**
   * A queue by id or name.
   *
   * @throws CommandException if there is no such queue
   */
  public static JsonNode find(JsonCalls calls, String idOrName) {
    return ServerCommand.lookUp(() -> calls.read(path(idOrName)));
  }

  private static String path(String idOrName) {
    return PATH + "/" + JsonCalls.part(idOrName);
  }

  @Command(name = "list", description = "Lists the queues and the number of tasks in each.")
  int list(@Mixin ServerCommand.Reading server) {
    return server.perform(calls -> server.printRows(all(calls), COLUMNS));
  }

  @Command(
      name = "show",
      description = "Shows the settings of a queue and the number of its tasks.")
  int show(
      @Mixin ServerCommand server,
      @Parameters(paramLabel = "QUEUE", description = "The id or name of the queue.")
          String queue) {
    return server.perform(calls -> {
      JsonNode found = find(calls, queue);
      if (server.json()) {
        out().println(found);
        return;
      }
      ObjectNode shown = (ObjectNode) found.deepCopy();
      shown.remove(List.of("halted", "suspended"));
      Fields.print(out(), shown.put("health", health(found)));
      String reasons = reasons(found);
      if (!reasons.isEmpty()) {
        out().println(reasons);
        out().println("To serve it again: millrace queues resume " + queue);
      }
    });
  }

  /** Whether the queue is halted or suspended; {@code ok} if neither. */
  private static String health(JsonNode queue) {
    if (queue.path("halted").isObject()) {
      return "halted";
    }
    int nodes = queue.path("suspended").size();
    return nodes == 0 ? "ok" : "suspended on " + nodes + (nodes == 1 ? " node" : " nodes");
  }

  /** The reason of each node that could not start a runner. */
  private static String reasons(JsonNode queue) {
    List<String> reasons = new ArrayList<>();
    JsonNode halted = queue.path("halted");
    if (halted.isObject()) {
      reasons.add("threads were " + halted.path("threads").asInt() + ", " + reason(halted));
    }
    for (JsonNode each : queue.path("suspended")) {
      if (!each.path("node").equals(halted.path("node"))) {
        reasons.add(reason(each));
      }
    }
    return String.join("; ", reasons);
  }

  private static String reason(JsonNode trouble) {
    return "node %s at %s: %s"
        .formatted(
            trouble.path("node").asString(),
            Instant.ofEpochMilli(trouble.path("timestamp").asLong()),
            trouble.path("reason").asString());
  }

  @Command(
      name = "create",
      description =
          "Creates a queue. It runs no tasks until --threads is set, here or by 'queues set'.")
  int create(
      @Mixin ServerCommand server,
      @Option(
              names = {"-p", "--plugin"},
              required = true,
              paramLabel = "NAME",
              description = "The plugin that runs its tasks: shell, exec, demo, or your own.")
          String plugin,
      @Parameters(paramLabel = "NAME", description = "A name that no other queue has.") String name,
      @Mixin QueueOptions options) {
    return server.perform(calls -> {
      ObjectNode fields = ServerCommand.object().put("name", name).put("plugin", plugin);
      options.addTo(fields);
      JsonNode created = calls.post(PATH, fields);
      String paused =
          fields.path("threads").asInt(0) > 0
              ? ""
              : "\nIts tasks wait until it has threads, for example 4: millrace queues set %s -t 4"
                  .formatted(name);
      server.print(created, "created queue " + name + ", id " + Fields.id(created) + paused);
    });
  }

  @Command(
      name = "set",
      description = "Changes the settings of a queue. Running tasks are not affected.")
  int set(
      @Mixin ServerCommand server,
      @Parameters(paramLabel = "QUEUE", description = "The id or name of the queue.") String queue,
      @Option(names = "--name", paramLabel = "NAME", description = "The new name.")
          @Nullable String name,
      @Option(
              names = {"-p", "--plugin"},
              paramLabel = "NAME",
              description = "The new plugin.")
          @Nullable String plugin,
      @Mixin QueueOptions options) {
    return server.perform(calls -> {
      ObjectNode fields = ServerCommand.object();
      if (name != null) {
        fields.put("name", name);
      }
      if (plugin != null) {
        fields.put("plugin", plugin);
      }
      options.addTo(fields);
      if (fields.isEmpty()) {
        throw new UsageException("name what to set, for example --threads 5");
      }
      // An absent queue has another exit code than a refused value.
      find(calls, queue);
      JsonNode response = calls.post(path(queue), fields);
      server.print(
          response, "set " + String.join(", ", fields.propertyNames()) + " of queue " + queue);
    });
  }

  @Command(
      name = "resume",
      description = {
        "Resumes a queue that nodes have stopped serving because they could not start task"
            + " runners.",
        "A halted queue gets its former threads back, and all nodes may claim its tasks again."
      })
  int resume(
      @Mixin ServerCommand server,
      @Parameters(paramLabel = "QUEUE", description = "The id or name of the queue.")
          String queue) {
    return server.perform(calls -> {
      JsonNode threads = find(calls, queue).at("/halted/threads");
      JsonNode response = calls.post(path(queue) + "/resume", ServerCommand.object());
      boolean changed = response.at("/MongoDB::UpdateResult/modified_count").asInt(0) > 0;
      String restored = threads.isMissingNode() ? "" : ", threads " + threads.asInt();
      server.print(
          response,
          changed
              ? "resumed queue " + queue + restored
              : "queue " + queue + " is neither halted nor suspended");
    });
  }

  @Command(
      name = "delete",
      description =
          "Deletes a queue. Its tasks are kept and can be searched; waiting tasks are never run.")
  int delete(
      @Mixin ServerCommand server,
      @Parameters(paramLabel = "QUEUE", description = "The id or name of the queue.") String queue,
      @Option(
              names = "--force",
              description = "Deletes the queue even if it has waiting or running tasks.")
          boolean force) {
    return server.perform(calls -> {
      JsonNode found = find(calls, queue);
      long unfinished = found.path("queued").asLong(0) + found.path("running").asLong(0);
      if (unfinished > 0 && !force) {
        throw new CommandException(
            ExitCode.REFUSED,
            "queue %s has %d unfinished tasks; --force deletes it anyway"
                .formatted(queue, unfinished));
      }
      server.print(calls.delete(path(queue)), "deleted queue " + queue);
    });
  }

  /** The settings of a queue besides its name and plugin. */
  static final class QueueOptions {
    @Mixin private PolicyOptions.OfQueues policy = new PolicyOptions.OfQueues();

    @Option(
        names = {"-t", "--threads"},
        paramLabel = "N",
        description =
            "The most tasks to run at a time over all nodes; 0 or none for no tasks. A new queue"
                + " has none.")
    private @Nullable String threads;

    @Option(
        names = "--sort",
        paramLabel = "ORDER",
        description = "The order of tasks: fifo, lifo or default (oldest first).")
    private @Nullable Sort sort;

    @Option(
        names = "--pin",
        split = ",",
        paramLabel = "NODE",
        description = "Only these nodes serve the queue; takes precedence over --ignore.")
    private List<String> pin = List.of();

    @Option(
        names = "--ignore",
        split = ",",
        paramLabel = "NODE",
        description = "These nodes do not serve the queue.")
    private List<String> ignore = List.of();

    @Option(
        names = "--any-node",
        description = "Removes --pin and --ignore, so that all nodes serve the queue.")
    private boolean anyNode;

    @Option(
        names = "--requeue-orphans",
        paramLabel = "N",
        description = "How often a task is queued again after its node was lost. Default: 0")
    private @Nullable String requeueOrphans;

    /** Adds the given options to the fields of a request. */
    void addTo(ObjectNode fields) {
      if (threads != null) {
        fields.set("threads", Arguments.limit("--threads", threads));
      }
      if (sort != null) {
        fields.put("sort", sort.word());
      }
      if (anyNode) {
        if (!pin.isEmpty() || !ignore.isEmpty()) {
          throw new UsageException("--any-node cannot be combined with --pin or --ignore");
        }
        fields.putArray("nodes_pin");
        fields.putArray("nodes_ignore");
      }
      add(fields, "nodes_pin", "--pin", pin);
      add(fields, "nodes_ignore", "--ignore", ignore);
      if (requeueOrphans != null) {
        fields.put("requeue_orphans", Arguments.count("--requeue-orphans", requeueOrphans));
      }
      policy.fields(true).forEach((field, text) -> fields.put(field, text.isEmpty() ? null : text));
    }

    private static void add(ObjectNode fields, String field, String option, List<String> values) {
      if (values.stream().anyMatch(String::isBlank)) {
        throw new UsageException(
            option + " contains an empty name; --any-node removes the setting");
      }
      if (!values.isEmpty()) {
        ArrayNode array = fields.putArray(field);
        values.forEach(array::add);
      }
    }
  }
}
