package io.millrace.server.graph.type;

import io.millrace.graph.Tail;
import io.millrace.queues.InvalidRequestException;
import io.millrace.queues.ObjectId;
import io.millrace.queues.OutputReader.Stream;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.TaskStateException;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** An attempt that is a task of a queue. */
final class TaskAttempt extends HandedOn {
  private final Tasks tasks;
  private final ObjectId id;
  private final Order order;
  private final TaskTail stdout;
  private final TaskTail stderr;

  private TaskAttempt(
      Tasks tasks, ObjectId id, Order order, TaskTail stdout, TaskTail stderr, boolean named) {
    super(
        named
            ? Map.of("task", new TextTail(id.hex()), "stdout", stdout, "stderr", stderr)
            : Map.<String, Tail>of("stdout", stdout, "stderr", stderr));
    this.tasks = tasks;
    this.id = id;
    this.order = order;
    this.stdout = stdout;
    this.stderr = stderr;
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
    /** Why the node has failed by it; empty where it has not. */
    String failure(QueueTask ended);

    /** The output beside that of the streams. */
    Map<String, JsonNode> values(QueueTask ended);
  }

  /**
   * Begins, or finds what has begun.
   *
   * @param named whether the task's id is output too
   */
  static TaskAttempt begin(Tasks tasks, ObjectId id, Order order, boolean named) {
    TaskAttempt attempt =
        new TaskAttempt(
            tasks, id, order, tasks.tail(id, Stream.STDOUT), tasks.tail(id, Stream.STDERR), named);
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
    var _ = tasks.follower().follow(id).thenAccept(task -> guarded(() -> ended(task)));
  }

  private void ended(QueueTask task) {
    stdout.ended(task);
    stderr.ended(task);
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
