package io.millrace.server.graph.type;

import io.millrace.blobs.Tail;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.type.Attempt;
import io.millrace.graph.type.Attempt.Failure;
import io.millrace.graph.type.AttemptContext;
import io.millrace.graph.type.Inputs;
import io.millrace.graph.type.NodeType;
import io.millrace.graph.type.RunPolicy;
import io.millrace.queues.ObjectId;
import io.millrace.queues.OutputReader.Stream;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.Status;
import io.millrace.server.graph.type.Tasks.TaskAttempt;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.IntNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Nodes of the type {@code queue task}: a task of a queue, whose status and output become the
 * node's.
 */
public record QueueTaskType(Tasks tasks) implements NodeType {
  /** The name of the type. */
  public static final String NAME = "queue task";

  /** The keys of data that it writes. */
  public static final Set<String> OUTPUTS = Set.of("task", "status", "stdout", "stderr");

  private static final TaskAttempt.Meaning MEANING =
      new TaskAttempt.Meaning(
          ended -> ended.status() == Status.SUCCEEDED ? null : failure(ended),
          ended -> Map.of("status", IntNode.valueOf(ended.status())));

  /**
   * Why the node of a task that did not succeed has not either. The code is the status of the task:
   * its number if it has completed, otherwise its name.
   */
  static Failure failure(QueueTask ended) {
    String reason = ended.progress().reason();
    int status = ended.status();
    String word =
        "the queue task "
            + ended.id()
            + " is "
            + Status.name(status)
            + (reason == null ? "" : ": " + reason);
    return status == Status.ORPHANED
        ? new Failure.Interrupted(word)
        : Failure.of(
            word, Status.isFinished(status) ? Integer.toString(status) : Status.name(status));
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Set<String> inputs() {
    return RunPolicy.keysWith("queue", "params", "schedule", "nominal", "started");
  }

  @Override
  public Set<String> outputs() {
    return OUTPUTS;
  }

  @Override
  public void check(Map<String, JsonNode> inputs) {
    TaskAttempt.Order order = order(inputs);
    RunPolicy.of(inputs);
    // A queue that does not exist yet may be created before the node runs.
    Optional<Queue> queue = tasks.queues().queues().find(order.queue());
    try {
      queue.ifPresent(found -> tasks.queues().submission().checkKnown(found, order.params()));
    } catch (InvalidRequestException e) {
      throw new InvalidGraphException(String.valueOf(e.getMessage()));
    }
  }

  private static TaskAttempt.Order order(Map<String, JsonNode> inputs) {
    JsonNode params = inputs.get("params");
    ObjectNode object =
        switch (params) {
          case null -> JsonNodeFactory.instance.objectNode();
          case NullNode _ -> JsonNodeFactory.instance.objectNode();
          case ObjectNode given -> given;
          default -> throw new InvalidGraphException("params must be an object");
        };
    return new TaskAttempt.Order(
        new Inputs(inputs).text("queue"), object, ScheduledRun.of(inputs), MEANING);
  }

  @Override
  public Attempt start(AttemptContext context) {
    ObjectId id = tasks.id(context);
    return TaskAttempt.begin(
        tasks,
        id,
        order(context.inputs()),
        EnumSet.of(Stream.STDOUT, Stream.STDERR),
        Map.of("task", Tail.of(id.hex())));
  }
}
