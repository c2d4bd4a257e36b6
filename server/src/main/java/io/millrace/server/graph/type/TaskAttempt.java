package io.millrace.server.graph.type;

import static java.util.Objects.requireNonNull;

import io.millrace.blobs.Tail;
import io.millrace.queues.ObjectId;
import io.millrace.queues.OutputReader.Stream;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.QueuesException.TaskStateException;
import io.millrace.server.graph.type.Tasks.TaskTail;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** An attempt that is a task of a queue. */
final class TaskAttempt extends HandedOn {
  private final Tasks tasks;
  private final ObjectId id;
  private final Order order;
  private final List<TaskTail> streams;

  private TaskAttempt(Tasks tasks, ObjectId id, Order order, Map<String, Tail> recordings) {
    super(recordings);
    this.tasks = tasks;
    this.id = id;
    this.order = order;
    this.streams =
        recordings.values().stream()
            .filter(TaskTail.class::isInstance)
            .map(TaskTail.class::cast)
            .toList();
  }

  /**
   * What is to become a task.
   *
   * @param queue the name or id of the queue
   * @param params its params
   * @param meaning what its end means
   */
  record Order(String queue, ObjectNode params, Meaning meaning) {}

  /** What the end of a task means for the node. */
  interface Meaning {
    /** Why the node has failed by it; empty if it has not. */
    String failure(QueueTask ended);

    /** The output beside that of the streams. */
    Map<String, JsonNode> values(QueueTask ended);
  }

  /** Begins, or finds what has begun; the streams of the task are output. */
  static TaskAttempt begin(Tasks tasks, ObjectId id, Order order, Set<Stream> streams) {
    return begin(tasks, id, order, streams, new HashMap<>());
  }

  /** The same, and the task's id is output too. */
  static TaskAttempt beginNamed(Tasks tasks, ObjectId id, Order order, Set<Stream> streams) {
    return begin(tasks, id, order, streams, new HashMap<>(Map.of("task", Tail.of(id.hex()))));
  }

  private static TaskAttempt begin(
      Tasks tasks, ObjectId id, Order order, Set<Stream> streams, Map<String, Tail> recordings) {
    streams.forEach(stream -> recordings.put(stream.word(), tasks.tail(id, stream)));
    TaskAttempt attempt = new TaskAttempt(tasks, id, order, recordings);
    attempt.begin();
    return attempt;
  }

  @Override
  void handOn() {
    if (tasks.find(id).isEmpty()) {
      Queue queue =
          tasks
              .queues()
              .queues()
              .find(order.queue())
              .orElseThrow(() -> new CannotHandOnException("there is no queue " + order.queue()));
      try {
        tasks.queues().tasks().submitOnce(queue, id, order.params());
      } catch (InvalidRequestException e) {
        throw new CannotHandOnException(String.valueOf(e.getMessage()));
      }
    }
    var _ = tasks.ends().follow(id).thenAccept(task -> guarded(() -> ended(requireNonNull(task))));
  }

  private void ended(QueueTask task) {
    streams.forEach(stream -> stream.ended(task));
    String failure = order.meaning().failure(task);
    if (failure.isEmpty()) {
      finish(order.meaning().values(task));
    } else {
      fail(failure, order.meaning().values(task));
    }
  }

  @Override
  void stop() {
    try {
      tasks.queues().tasks().terminate(id);
    } catch (TaskStateException _) {
      // It has finished already.
    }
  }
}
