package io.millrace.cli.queues;

import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.Limits;
import io.millrace.cli.remote.RemoteCommand;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import io.millrace.queues.Sort;
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
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The commands on queues, under one name. */
public final class QueuesCommands {
  private QueuesCommands() {}

  /** With all that belongs to it. */
  public static CommandLine on(Terminal terminal) {
    CommandLine queues =
        CommandGroup.of(
            "queues", "Lists, creates, changes, resumes and deletes the queues of a server.");
    List.of(
            new ListQueues(terminal),
            new ShowQueue(terminal),
            new CreateQueue(terminal),
            new SetQueue(terminal),
            new ResumeQueue(terminal),
            new DeleteQueue(terminal))
        .forEach(command -> CommandGroup.add(queues, command, Map.of()));
    return queues;
  }

  /** Lists queues. */
  @Command(name = "list", description = "Lists the queues and how many tasks each has.")
  private static final class ListQueues extends RemoteCommand {
    ListQueues(Terminal terminal) {
      super(terminal);
    }

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
  @Command(name = "show", description = "Shows all that is set for a queue, and its counts.")
  private static final class ShowQueue extends RemoteCommand {
    @Parameters(paramLabel = "QUEUE", description = "Its id or name.")
    private String queue = "";

    ShowQueue(Terminal terminal) {
      super(terminal);
    }

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
      description = "Creates a queue; without --threads it runs nothing until they are set.")
  private static final class CreateQueue extends RemoteCommand {
    @Parameters(paramLabel = "NAME", description = "Its name, which no other queue has.")
    private String name = "";

    @Option(
        names = {"-p", "--plugin"},
        required = true,
        paramLabel = "NAME",
        description = "What runs its tasks: shell, exec, demo, or a plugin of your own.")
    private String plugin = "";

    @Mixin private QueueOptions options = new QueueOptions();

    CreateQueue(Terminal terminal) {
      super(terminal);
    }

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
  @Command(name = "set", description = "Changes a queue; what runs already goes on.")
  private static final class SetQueue extends RemoteCommand {
    @Parameters(paramLabel = "QUEUE", description = "Its id or name.")
    private String queue = "";

    @Option(names = "--name", paramLabel = "NAME", description = "Another name.")
    private @Nullable String name;

    @Option(
        names = {"-p", "--plugin"},
        paramLabel = "NAME",
        description = "Another plugin.")
    private @Nullable String plugin;

    @Mixin private QueueOptions options = new QueueOptions();

    SetQueue(Terminal terminal) {
      super(terminal);
    }

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
        throw new UsageException("say what to set, as --threads 5");
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
        "Resumes a queue that nodes have stopped serving because they cannot start task runners.",
        "A halted queue gets back the threads that it had, and all nodes may claim its tasks again."
      })
  private static final class ResumeQueue extends RemoteCommand {
    @Parameters(paramLabel = "QUEUE", description = "Its id or name.")
    private String queue = "";

    ResumeQueue(Terminal terminal) {
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

  /** Deletes a queue. */
  @Command(
      name = "delete",
      description =
          "Deletes a queue. Its tasks stay and can be searched; those that wait are never run.")
  private static final class DeleteQueue extends RemoteCommand {
    @Parameters(paramLabel = "QUEUE", description = "Its id or name.")
    private String queue = "";

    @Option(names = "--force", description = "Also when tasks of it wait or run.")
    private boolean force;

    DeleteQueue(Terminal terminal) {
      super(terminal);
    }

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
            "The most tasks that run at a time over all nodes; 0 or none runs nothing, which is"
                + " what a queue begins with.")
    private @Nullable String threads;

    @Option(
        names = "--sort",
        paramLabel = "ORDER",
        description = "Which task is next: fifo, lifo, or default, which is oldest first too.")
    private @Nullable Sort sort;

    @Option(
        names = "--pin",
        split = ",",
        paramLabel = "NODE",
        description = "Only these nodes serve it; goes before --ignore.")
    private List<String> pin = List.of();

    @Option(
        names = "--ignore",
        split = ",",
        paramLabel = "NODE",
        description = "These nodes do not serve it.")
    private List<String> ignore = List.of();

    @Option(names = "--any-node", description = "All nodes may serve it again.")
    private boolean anyNode;

    @Option(
        names = "--requeue-orphans",
        paramLabel = "N",
        description = "How often a task is queued again that became an orphan; 0 by default.")
    private @Nullable String requeueOrphans;

    /** Adds what was given to the fields of a request. */
    void addTo(ObjectNode fields) {
      if (threads != null) {
        fields.set("threads", Limits.read("--threads", threads));
      }
      if (sort != null) {
        fields.put("sort", sort.word());
      }
      if (anyNode) {
        if (!pin.isEmpty() || !ignore.isEmpty()) {
          throw new UsageException("--any-node goes neither with --pin nor with --ignore");
        }
        fields.putArray("nodes_pin");
        fields.putArray("nodes_ignore");
      }
      add(fields, "nodes_pin", "--pin", pin);
      add(fields, "nodes_ignore", "--ignore", ignore);
      if (requeueOrphans != null) {
        fields.put("requeue_orphans", Limits.count("--requeue-orphans", requeueOrphans));
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
