package io.millrace.server.graph.type;

import io.millrace.blobs.Tail;
import io.millrace.queues.ObjectId;
import io.millrace.queues.OutputReader;
import io.millrace.queues.QueueTask;
import io.millrace.queues.Queues;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a queue task writes to one of its streams. */
final class TaskTail implements Tail {
  private final Queues queues;
  private final OutputReader reader;
  private final OutputReader.Stream stream;
  private final ObjectId task;
  private volatile @Nullable QueueTask ended;
  private long counted;

  TaskTail(Queues queues, OutputReader reader, OutputReader.Stream stream, ObjectId task) {
    this.queues = queues;
    this.reader = reader;
    this.stream = stream;
    this.task = task;
  }

  /** Says how the task has ended, so that its output does not change any more. */
  void ended(QueueTask last) {
    ended = last;
  }

  private Optional<QueueTask> task() {
    QueueTask last = ended;
    return last == null ? queues.tasks().find(task) : Optional.of(last);
  }

  /** Counts only what has come since it was asked last; none of it is kept. */
  @Override
  public synchronized long size() {
    counted += task().map(it -> copy(it, counted, OutputStream.nullOutputStream())).orElse(0L);
    return counted;
  }

  private long copy(QueueTask from, long offset, OutputStream target) {
    try {
      return reader.copy(from, stream, offset, target);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public byte[] read(long offset, int most) {
    QueueTask from = task().orElse(null);
    return from == null
        ? new byte[0]
        : BoundedBytes.of(
            target -> {
              var _ = reader.copy(from, stream, offset, target);
            },
            most);
  }
}
