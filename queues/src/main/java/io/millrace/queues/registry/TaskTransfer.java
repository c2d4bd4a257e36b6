package io.millrace.queues.registry;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.Tail;
import io.millrace.queues.Json;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.Output.OutputFile;
import io.millrace.queues.OutputReader.Stream;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.Place;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.Status;
import io.millrace.store.Bytes;
import io.millrace.store.Task;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.Add;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.Put;
import io.millrace.store.Transaction.When;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Takes queues and tasks of another home into the store, and gives tasks up to one. They keep their
 * ids, so that each is found under its id on both sides.
 *
 * <p>Tasks are taken in batches. A batch leaves a mark until {@link #forget}, so that a batch that
 * was taken is not taken again, whatever has become of its tasks. Safe for use by any number of
 * threads.
 */
public final class TaskTransfer {
  /** The status of a task that is about to move, or has moved: nodes leave it alone. */
  public static final int MOVED = -8;

  /** Longer outputs are kept in the blob store. */
  private static final int INLINE_BYTES = 2048;

  private final QueueSession session;
  private final BlobStore blobs;

  TaskTransfer(QueueSession session, BlobStore blobs) {
    this.session = session;
    this.blobs = blobs;
  }

  /**
   * Creates a queue under this id unless it is there.
   *
   * @return the queue as it is now
   * @throws InvalidRequestException if another queue has the name, or it is not accepted
   */
  public Queue adopt(ObjectId id, String name, String plugin, Queue.Settings settings) {
    QueueRegistry queues = new QueueRegistry(session);
    return queues.find(id).orElseGet(() -> queues.create(id, name, plugin, settings));
  }

  /** Whether these params are not too large for a task. */
  public boolean fits(ObjectNode params) {
    return Json.write(params).size() <= session.paramsBytes();
  }

  /**
   * Stores an output of a task that is to be taken.
   *
   * @param file the id of its file; null if it was a text
   */
  public Output output(ObjectId task, Stream stream, @Nullable ObjectId file, Tail content) {
    long bytes = content.size();
    if (file == null && bytes <= INLINE_BYTES) {
      return new Output.Text(new String(content.read(0, INLINE_BYTES), StandardCharsets.UTF_8));
    }
    ObjectId id = file == null ? textFile(task, stream) : file;
    String prefix = OutputFile.prefix(task, 0, stream.word());
    OutputFile stored = new OutputFile(id, task, stream.word(), bytes, prefix);
    // The document first: chunks without one are swept.
    session.retry(
        "file " + id,
        () ->
            session.tryCommit(
                session
                    .begin()
                    .put(Keys.file(id), DocumentVersion.ANY, OutputFile.write(stored))
                    .build()));
    for (long from = 0; from < bytes; from += OutputFile.CHUNK_BYTES) {
      byte[] chunk = content.read(from, (int) Math.min(OutputFile.CHUNK_BYTES, bytes - from));
      blobs.put(prefix + from / OutputFile.CHUNK_BYTES, new ByteArrayInputStream(chunk));
    }
    return new Output.Stored(id, bytes, file == null);
  }

  /** The same id each time, so that a repetition leaves nothing behind. */
  private static ObjectId textFile(ObjectId task, Stream stream) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256")
              .digest((task.hex() + stream.word()).getBytes(StandardCharsets.US_ASCII));
      return new ObjectId(HexFormat.of().formatHex(Arrays.copyOf(hash, 12)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Takes tasks, in one transaction. Those whose id is in the store are left as they are.
   *
   * @param batch a unique id for these tasks
   * @param tasks none of which is claimed or running; their queues exist
   * @return false if the batch was taken before
   * @throws InvalidRequestException if the store does not accept them
   */
  public boolean take(ObjectId batch, List<QueueTask> tasks) {
    return session.retry("batch " + batch, () -> tryTake(batch, tasks));
  }

  private @Nullable Boolean tryTake(ObjectId batch, List<QueueTask> tasks) {
    if (session.document(Keys.batch(batch)).isPresent()) {
      return false;
    }
    Transaction.Builder transaction = session.begin();
    transaction.put(
        Keys.batch(batch), DocumentVersion.ABSENT, Bytes.of(Integer.toString(tasks.size())));
    Set<ObjectId> queues = new HashSet<>();
    for (QueueTask task : tasks) {
      if (session.document(Keys.task(task.id())).isPresent()) {
        continue;
      }
      if (queues.add(task.queue())) {
        transaction.depend(Keys.queue(task.queue()), DocumentVersion.ANY);
        QueueRegistry.ring(transaction, task.queue());
      }
      String name = task.id().hex();
      boolean waits = task.status() == Status.QUEUED;
      Task.Lane lane = waits ? task.policy().lane() : null;
      String group = Queue.group(task.queue(), task.status());
      transaction.add(new Add(group, Bytes.of(name), When.now(), false, name, lane));
      transaction.put(
          new Put(Keys.task(task.id()), DocumentVersion.ABSENT, QueueTask.write(task, name), true));
    }
    return session.tryCommit(transaction.build()) == null ? null : true;
  }

  /** Removes the mark of a batch that will not be taken again. */
  public void forget(ObjectId batch) {
    var _ =
        session.tryCommit(session.begin().delete(Keys.batch(batch), DocumentVersion.ANY).build());
  }

  /**
   * Deletes a task that has moved, with its output.
   *
   * @return whether it was still as given
   */
  public boolean giveUp(QueueTask task) {
    Transaction.Builder transaction = session.begin();
    TaskTransitions.delete(transaction, task);
    return session.tryCommit(transaction.build()) != null;
  }

  /** A task of another home; one that is taken has no place yet. */
  public static QueueTask task(QueueTask other, int status, QueueTask.TaskOutput output) {
    QueueTask.Progress progress = other.progress();
    return new QueueTask(
        other.id(),
        other.queue(),
        other.params(),
        null,
        null,
        other.ctimeMillis(),
        other.policy(),
        new QueueTask.Progress(
            status,
            progress.node(),
            progress.mtimeMillis(),
            null,
            0,
            QueueTask.Retries.NONE,
            null,
            progress.deadlines()),
        output,
        new Place(0, 0));
  }
}
