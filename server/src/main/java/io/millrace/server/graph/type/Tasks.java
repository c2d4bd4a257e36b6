package io.millrace.server.graph.type;

import static java.util.Objects.requireNonNull;

import io.millrace.blobs.Tail;
import io.millrace.graph.NodeId;
import io.millrace.graph.type.AttemptContext;
import io.millrace.queues.ObjectId;
import io.millrace.queues.OutputReader;
import io.millrace.queues.OutputReader.Stream;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.QueuesException.TaskStateException;
import io.millrace.queues.Status;
import io.millrace.queues.registry.Queues;
import io.millrace.queues.registry.TaskArchive;
import io.millrace.store.Sha256;
import io.millrace.work.SharedWatch;
import io.millrace.work.Watch;
import java.util.Collection;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The queue tasks of attempts at nodes. To be closed before the store. */
public final class Tasks implements AutoCloseable {
  private final Queues queues;
  private final TaskArchive archived;
  private final OutputReader outputs;
  private final ToLongFunction<AttemptContext> startedMillis;
  private final SharedWatch<ObjectId, QueueTask> ends;

  /**
   * Uses these queues.
   *
   * @param startedMillis returns when an attempt started, in milliseconds since 1970; always the
   *     same time
   */
  public Tasks(
      Queues queues,
      TaskArchive archived,
      OutputReader outputs,
      ToLongFunction<AttemptContext> startedMillis) {
    this.queues = queues;
    this.archived = archived;
    this.outputs = outputs;
    this.startedMillis = startedMillis;
    this.ends = new SharedWatch<>("graph-queue-tasks", new Ended());
  }

  Queues queues() {
    return queues;
  }

  SharedWatch<ObjectId, QueueTask> ends() {
    return ends;
  }

  TaskTail tail(ObjectId task, OutputReader.Stream stream) {
    return new TaskTail(queues, outputs, stream, task);
  }

  /** The task, in the store or in the archive. */
  Optional<QueueTask> find(ObjectId id) {
    return queues
        .tasks()
        .find(id)
        .or(() -> Optional.ofNullable(archived.find(List.of(id)).get(id)));
  }

  /** The id of the task of an attempt. */
  ObjectId id(AttemptContext context) {
    return id(context.id(), context.attempt(), startedMillis.applyAsLong(context));
  }

  /**
   * The id of the task of an attempt: the time of its start, as in any id, and a digest of its
   * name. So repeating a request finds the same task.
   *
   * @param startedMillis when the attempt started, in milliseconds since 1970
   */
  public static ObjectId id(NodeId node, int attempt, long startedMillis) {
    String digest = Sha256.hex("graph-" + node + "-" + attempt);
    return new ObjectId(
        HexFormat.of().toHexDigits(startedMillis / 1000, 8) + digest.substring(0, 16));
  }

  /**
   * Whether a task will not go on by itself or when an operator releases it. Statuses with other
   * codes may be released.
   */
  private static boolean isOver(QueueTask task) {
    return switch (task.status()) {
      case Status.CANCELLED, Status.TERMINATED, Status.ORPHANED -> true;
      default -> Status.isFinished(task.status());
    };
  }

  /** Tasks that are over; a task that is not found may be on its way to the archive. */
  private final class Ended implements Watch.Source<ObjectId, QueueTask> {
    @Override
    public Watch.Changes<ObjectId, QueueTask> open() {
      return queues.changes();
    }

    @Override
    public Map<ObjectId, QueueTask> read(Collection<ObjectId> ids) {
      Map<ObjectId, QueueTask> found = new HashMap<>();
      ids.forEach(id -> find(id).ifPresent(task -> found.put(id, task)));
      return found;
    }

    @Override
    public boolean isOver(@Nullable QueueTask task) {
      return task != null && Tasks.isOver(task);
    }
  }

  @Override
  public void close() {
    ends.close();
  }

  /** The output of a queue task on one of its streams. */
  static final class TaskTail implements Tail {
    private final Queues queues;
    private final OutputReader reader;
    private final OutputReader.Stream stream;
    private final ObjectId task;
    private volatile @Nullable QueueTask ended;

    TaskTail(Queues queues, OutputReader reader, OutputReader.Stream stream, ObjectId task) {
      this.queues = queues;
      this.reader = reader;
      this.stream = stream;
      this.task = task;
    }

    /** Says that the task has ended, so that its output no longer changes. */
    void ended(QueueTask last) {
      ended = last;
    }

    private Tail now() {
      QueueTask last = ended;
      Optional<QueueTask> found = last == null ? queues.tasks().find(task) : Optional.of(last);
      return found.map(it -> reader.tail(it, stream)).orElse(Tail.of(""));
    }

    @Override
    public long size() {
      return now().size();
    }

    @Override
    public byte[] read(long offset, int most) {
      return now().read(offset, most);
    }
  }

  /** An attempt that is a task of a queue. */
  static final class TaskAttempt extends HandedOn {
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
     * A task to be created.
     *
     * @param queue the name or id of the queue
     * @param params its params
     * @param run the run of a schedule to which it belongs; null for none
     * @param meaning the meaning of its end
     */
    record Order(String queue, ObjectNode params, @Nullable ScheduledRun run, Meaning meaning) {
      QueueTask.@Nullable Scheduled scheduled() {
        return run == null
            ? null
            : new QueueTask.Scheduled(
                run.schedule(), run.nominal().toEpochMilli(), run.started().toEpochMilli());
      }
    }

    /**
     * The meaning of a task's end for the node.
     *
     * @param failure why the node has not succeeded; null if it has
     * @param values the output besides that of the streams
     */
    record Meaning(
        Function<QueueTask, @Nullable Failure> failure,
        Function<QueueTask, Map<String, JsonNode>> values) {}

    /**
     * Creates the task, or finds it again.
     *
     * @param recordings output besides the streams of the task
     */
    static TaskAttempt begin(
        Tasks tasks, ObjectId id, Order order, Set<Stream> streams, Map<String, Tail> recordings) {
      Map<String, Tail> all = new HashMap<>(recordings);
      streams.forEach(stream -> all.put(stream.word(), tasks.tail(id, stream)));
      TaskAttempt attempt = new TaskAttempt(tasks, id, order, all);
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
          tasks.queues().submission().submitOnce(queue, id, order.params(), order.scheduled());
        } catch (InvalidRequestException e) {
          throw new CannotHandOnException(String.valueOf(e.getMessage()));
        }
      }
      var _ =
          tasks.ends().follow(id).thenAccept(task -> guarded(() -> ended(requireNonNull(task))));
    }

    private void ended(QueueTask task) {
      streams.forEach(stream -> stream.ended(task));
      Failure failure = order.meaning().failure().apply(task);
      Map<String, JsonNode> values = order.meaning().values().apply(task);
      if (failure == null) {
        finish(values);
      } else {
        fail(failure, values);
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
}
