package io.millrace.server.graph.type;

import io.millrace.blobs.Tail;
import io.millrace.graph.type.AttemptContext;
import io.millrace.queues.Archive;
import io.millrace.queues.ObjectId;
import io.millrace.queues.OutputReader;
import io.millrace.queues.QueueTask;
import io.millrace.queues.Queues;
import io.millrace.queues.Status;
import io.millrace.work.SharedWatch;
import io.millrace.work.Watch;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collection;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** The queue tasks that attempts at nodes are. To be closed before the store. */
public final class Tasks implements AutoCloseable {
  private final Queues queues;
  private final Archive archived;
  private final OutputReader outputs;
  private final ToLongFunction<AttemptContext> startedMillis;
  private final SharedWatch<ObjectId, QueueTask> ends;

  /**
   * Tasks of these queues.
   *
   * @param startedMillis when an attempt started, in milliseconds since 1970; the same at any time
   */
  public Tasks(
      Queues queues,
      Archive archived,
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

  /** The task, wherever it is. */
  Optional<QueueTask> find(ObjectId id) {
    return queues
        .tasks()
        .find(id)
        .or(() -> Optional.ofNullable(archived.find(List.of(id)).get(id)));
  }

  /**
   * The id of the task that an attempt is: the time of its start, as in any id, and a digest of
   * what names it. So whoever asks again asks for the same task.
   */
  ObjectId id(AttemptContext context) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256")
              .digest(
                  ("graph-" + context.id() + "-" + context.attempt())
                      .getBytes(StandardCharsets.UTF_8));
      HexFormat hex = HexFormat.of();
      long seconds = startedMillis.applyAsLong(context) / 1000;
      return new ObjectId(hex.toHexDigits(seconds, 8) + hex.formatHex(digest, 0, 8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("this JDK has no SHA-256", e);
    }
  }

  /**
   * Whether a task will not go on by itself or by an operator's word that it waits for. One that is
   * held back by another code does.
   */
  private static boolean isOver(QueueTask task) {
    return switch (task.status()) {
      case Status.CANCELLED, Status.TERMINATED, Status.ORPHANED -> true;
      default -> Status.isFinished(task.status());
    };
  }

  /** Tasks that are over; one that is nowhere may be on its way to the archive. */
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

  /** What a queue task writes to one of its streams. */
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

    /** The task has ended, so its output does not change any more. */
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
}
