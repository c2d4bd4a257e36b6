package io.millrace.cli.queues;

import io.millrace.cli.remote.Arguments;
import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import io.millrace.queues.Queue.Sort;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The commands on queues, under one name. */
public final class QueuesCommands {
  private QueuesCommands() {}

  /** With all that belongs to it. */
  public static CommandLine group() {
    return CommandGroup.of(
        "queues",
        "Lists, creates, changes, resumes and deletes queues.",
        new ListQueues(),
        new ShowQueue(),
        new CreateQueue(),
        new SetQueue(),
        new ResumeQueue(),
        new DeleteQueue());
  }

  /** Lists queues. */
  @Command(name = "list", description = "Lists the queues with the number of their tasks.")
  private static final class ListQueues extends RemoteCommand {
    @Override
    protected int run(JsonCalls calls) {
      JsonNode queues = calls.get(QueueCalls.PATH);
      if (json()) {
        out().println(queues);
        return ExitCode.OK;
      }
      Table table =
          new Table("ID", "NAME", "PLUGIN", "THREADS", "QUEUED", "RUNNING", "COMPLETED", "HEALTH");
      for (JsonNode queue : queues) {
        table.row(
            Fields.id(queue),
            Fields.text(queue.path("name")),
            Fields.text(queue.path("plugin")),
            Fields.text(queue.path("threads")),
            Fields.text(queue.path("queued")),
            Fields.text(queue.path("running")),
            Fields.text(queue.path("completed")),
            QueueCalls.health(queue));
      }
      table.print(out());
      return ExitCode.OK;
    }
  }

  /** Shows a queue. */
  @Command(
      name = "show",
      description = "Shows the settings of a queue and the number of its tasks.")
  private static final class ShowQueue extends RemoteCommand {
    @Parameters(paramLabel = "QUEUE", description = "The id or name of the queue.")
    private String queue = "";

    @Override
    protected int run(JsonCalls calls) {
      JsonNode found = QueueCalls.find(calls, queue);
      if (json()) {
        out().println(found);
      } else {
        ObjectNode shown = (ObjectNode) found.deepCopy();
        shown.remove(List.of("halted", "suspended"));
        shown.put("health", QueueCalls.health(found));
        Fields.print(out(), shown);
        if (!QueueCalls.reasons(found).isEmpty()) {
          out().println(QueueCalls.reasons(found));
          out().println("To serve it again: millrace queues resume " + queue);
        }
      }
      return ExitCode.OK;
    }
  }

  /** Creates a queue. */
  @Command(
      name = "create",
      description =
          "Creates a queue. It runs no tasks until --threads is set, here or by 'queues set'.")
  private static final class CreateQueue extends RemoteCommand {
    @Parameters(paramLabel = "NAME", description = "A name that no other queue has.")
    private String name = "";

    @Option(
        names = {"-p", "--plugin"},
        required = true,
        paramLabel = "NAME",
        description = "The plugin that runs its tasks: shell, exec, demo, or your own.")
    private String plugin = "";

    @Mixin private QueueOptions options = new QueueOptions();

    @Override
    protected int run(JsonCalls calls) {
      ObjectNode fields = JsonNodeFactory.instance.objectNode();
      fields.put("name", name).put("plugin", plugin);
      options.addTo(fields);
      JsonNode created = calls.post(QueueCalls.PATH, fields);
      print(created, "created queue " + name + ", id " + Fields.id(created));
      return ExitCode.OK;
    }
  }

  /** Changes a queue. */
  @Command(
      name = "set",
      description = "Changes the settings of a queue. Running tasks are not affected.")
  private static final class SetQueue extends RemoteCommand {
    @Parameters(paramLabel = "QUEUE", description = "The id or name of the queue.")
    private String queue = "";

    @Option(names = "--name", paramLabel = "NAME", description = "The new name.")
    private @Nullable String name;

    @Option(
        names = {"-p", "--plugin"},
        paramLabel = "NAME",
        description = "The new plugin.")
    private @Nullable String plugin;

    @Mixin private QueueOptions options = new QueueOptions();

    @Override
    protected int run(JsonCalls calls) {
      ObjectNode fields = JsonNodeFactory.instance.objectNode();
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
      // The queue may be gone, which is another matter than a value that is not accepted.
      QueueCalls.find(calls, queue);
      JsonNode answer = calls.post(QueueCalls.path(queue), fields);
      print(answer, "set " + String.join(", ", fields.propertyNames()) + " of queue " + queue);
      return ExitCode.OK;
    }
  }

  /** Resumes a queue. */
  @Command(
      name = "resume",
      description = {
        "Resumes a queue that nodes have stopped serving because they could not start task"
            + " runners.",
        "A halted queue gets its former threads back, and all nodes may claim its tasks again."
      })
  private static final class ResumeQueue extends RemoteCommand {
    @Parameters(paramLabel = "QUEUE", description = "The id or name of the queue.")
    private String queue = "";

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

  /** Deletes a queue. */
  @Command(
      name = "delete",
      description =
          "Deletes a queue. Its tasks are kept and can be searched; waiting tasks are never run.")
  private static final class DeleteQueue extends RemoteCommand {
    @Parameters(paramLabel = "QUEUE", description = "The id or name of the queue.")
    private String queue = "";

    @Option(
        names = "--force",
        description = "Deletes the queue also if it has waiting or running tasks.")
    private boolean force;

    @Override
    protected int run(JsonCalls calls) {
      JsonNode found = QueueCalls.find(calls, queue);
      long unfinished = found.path("queued").asLong(0) + found.path("running").asLong(0);
      if (unfinished > 0 && !force) {
        throw new CommandException(
            ExitCode.REFUSED,
            "queue %s has %d unfinished tasks; --force deletes it all the same"
                .formatted(queue, unfinished));
      }
      print(calls.delete(QueueCalls.path(queue)), "deleted queue " + queue);
      return ExitCode.OK;
    }
  }

  /** What can be said about a queue besides its name and plugin. */
  private static final class QueueOptions {
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

    /** Adds what was given to the fields of a request. */
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
    }

    private static void add(ObjectNode fields, String field, String option, List<String> values) {
      if (values.stream().anyMatch(String::isBlank)) {
        throw new UsageException(option + " names a node without a name; --any-node undoes it");
      }
      if (!values.isEmpty()) {
        ArrayNode array = fields.putArray(field);
        values.forEach(array::add);
      }
    }
  }
}
