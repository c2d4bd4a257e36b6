package io.millrace.mongo;

import io.millrace.blobs.Tail;
import io.millrace.mongo.MongoMove.Counter;
import io.millrace.mongo.MongoMove.Moved;
import io.millrace.mongo.MongoMove.Selection;
import io.millrace.mongo.MongoMove.Sides;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.OutputReader.Stream;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Status;
import io.millrace.queues.registry.TaskTransfer;
import java.util.ArrayList;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * The import of one queue. In the database a task that moves has a field {@code millrace}:
 *
 * <pre>
 *   not there ── mark ──→ {batch, status} ── take, in the store ──→ {batch, status, moved}
 * </pre>
 *
 * <p>The mark sets the status {@link TaskTransfer#MOVED} of a task that has not finished, so that
 * no node claims it, and remembers the one before. The store takes a batch once. So an import that
 * ended anywhere is repeated without losing or repeating a task. Claimed and running tasks are left
 * alone: when they have finished, the next import takes them.
 */
final class MongoImport extends MongoMove.OfQueue {
  private static final int BATCH = 500;
  private static final int BATCH_BYTES = 2 << 20;

  /** So few that their outputs do not fill the memory. */
  private static final int READ_AT_ONCE = 10;

  private final GridFiles files;
  private final MongoTasks tasks;

  MongoImport(Sides sides, Queue queue, Selection selection, Counter counter) {
    super(sides, queue, selection, counter);
    this.files = new GridFiles(sides.connection());
    this.tasks =
        new MongoTasks(
            sides.connection(),
            files,
            sides.definitions(),
            new MongoNodes(sides.connection(), sides.clock()),
            sides.clock());
  }

  /** The tasks of a queue that are neither claimed nor running, and do not have this field. */
  static Document open(Queue queue, String without) {
    return new Document("queue", BsonForm.id(queue.id()))
        .append("status", new Document("$nin", List.of(Status.CLAIMED, Status.RUNNING)))
        .append(without, new Document("$exists", false));
  }

  Moved run() {
    if (!dry) {
      transfer.adopt(queue.id(), queue.name(), queue.plugin(), queue.settings().withThreads(0));
      finishMarked();
    }
    org.bson.types.ObjectId after = null;
    for (List<Document> page = page(after); !page.isEmpty(); page = page(after)) {
      after = page.getLast().getObjectId("_id");
      look(page);
    }
    Document active =
        new Document("queue", BsonForm.id(queue.id()))
            .append("status", new Document("$in", List.of(Status.CLAIMED, Status.RUNNING)));
    return tally.moved(queue, sides.connection().call(() -> collection().countDocuments(active)));
  }

  /** The next tasks without a mark, oldest first, without their outputs. */
  private List<Document> page(org.bson.types.@Nullable ObjectId after) {
    Document filter = open(queue, dry ? MongoMove.MARK + ".moved" : MongoMove.MARK);
    if (after != null) {
      filter.append("_id", new Document("$gt", after));
    }
    return sides
        .connection()
        .call(() ->
            collection()
                .find(filter)
                .projection(new Document("stdout", 0).append("stderr", 0))
                .sort(new Document("_id", 1))
                .limit(BATCH)
                .into(new ArrayList<>()));
  }

  private void look(List<Document> page) {
    List<Document> batch = new ArrayList<>();
    long bytes = 0;
    for (Document document : page) {
      Optional<QueueTask> task = tasks.task(document);
      if (task.isEmpty()) {
        tally.problems.add("the document " + document.get("_id") + " is no task");
        continue;
      }
      if (!transfer.fits(task.get().params())) {
        tally.problems.add("the params of task " + task.get().id() + " are too large");
        continue;
      }
      long size = task.get().params().toString().length();
      if (bytes + size > BATCH_BYTES && !batch.isEmpty()) {
        move(batch);
        batch.clear();
        bytes = 0;
      }
      bytes += size;
      batch.add(document);
    }
    if (!batch.isEmpty()) {
      move(batch);
    }
  }

  private void move(List<Document> documents) {
    if (dry) {
      for (Document document : documents) {
        Document mark = document.get(MongoMove.MARK, Document.class);
        tally.add(BsonForm.integer(mark == null ? document : mark, "status", 0));
      }
      counter.add(documents.size());
      return;
    }
    org.bson.types.ObjectId batch = new org.bson.types.ObjectId();
    Map<Integer, List<org.bson.types.ObjectId>> byStatus = new LinkedHashMap<>();
    for (Document document : documents) {
      byStatus
          .computeIfAbsent(BsonForm.integer(document, "status", 0), _ -> new ArrayList<>())
          .add(document.getObjectId("_id"));
    }
    byStatus.forEach((status, ids) -> mark(batch, status, ids));
    take(batch, documents.stream().map(each -> each.getObjectId("_id")).toList());
  }

  /** Marks those that still have this status. */
  private void mark(org.bson.types.ObjectId batch, int status, List<org.bson.types.ObjectId> ids) {
    Document still =
        new Document("_id", new Document("$in", ids))
            .append("status", status)
            .append(MongoMove.MARK, new Document("$exists", false));
    Document set =
        new Document(MongoMove.MARK, new Document("batch", batch).append("status", status));
    if (!Status.isFinished(status)) {
      set.append("status", TaskTransfer.MOVED);
    }
    sides.connection().call(() -> collection().updateMany(still, new Document("$set", set)));
  }

  private void take(org.bson.types.ObjectId batch, List<org.bson.types.ObjectId> ids) {
    Document marked =
        new Document("_id", new Document("$in", ids)).append(MongoMove.MARK + ".batch", batch);
    ObjectId key = BsonForm.id(batch);
    List<QueueTask> taken = new ArrayList<>();
    var _ =
        sides
            .connection()
            .call(() -> {
              for (Document each :
                  collection().find(marked).sort(new Document("_id", 1)).batchSize(READ_AT_ONCE)) {
                tasks.task(each).ifPresent(task -> taken.add(before(task, each)));
              }
              return taken;
            });
    if (!taken.isEmpty()) {
      transfer.take(key, taken);
      Document moved =
          new Document(
              "$set", new Document(MongoMove.MARK + ".moved", Date.from(sides.clock().instant())));
      sides.connection().call(() -> collection().updateMany(marked, moved));
      transfer.forget(key);
    }
    taken.forEach(task -> tally.add(task.status()));
    counter.add(ids.size());
  }

  /** A task as it was before its mark, with outputs that are stored. */
  private QueueTask before(QueueTask task, Document document) {
    return TaskTransfer.task(
        task,
        BsonForm.integer(document.get(MongoMove.MARK, Document.class), "status", 0),
        new TaskOutput(
            output(task.id(), Stream.STDOUT, document),
            output(task.id(), Stream.STDERR, document)));
  }

  private Output output(ObjectId task, Stream stream, Document document) {
    return switch (document.get(stream.word())) {
      case null -> Output.none();
      case org.bson.types.ObjectId file -> {
        Optional<Tail> content = files.read(BsonForm.id(file));
        if (content.isEmpty()) {
          tally.problems.add(
              "the file %s, %s of task %s, does not exist".formatted(file, stream.word(), task));
          yield Output.none();
        }
        yield transfer.output(task, stream, BsonForm.id(file), content.get());
      }
      case Object text -> transfer.output(task, stream, null, Tail.of(text.toString()));
    };
  }

  /** Finishes what an import that ended has left. */
  private void finishMarked() {
    Document left =
        new Document("queue", BsonForm.id(queue.id()))
            .append(MongoMove.MARK + ".batch", new Document("$exists", true))
            .append(MongoMove.MARK + ".moved", new Document("$exists", false));
    Map<org.bson.types.ObjectId, List<org.bson.types.ObjectId>> batches = new LinkedHashMap<>();
    sides
        .connection()
        .call(() -> {
          batches.clear();
          for (Document each :
              collection().find(left).projection(new Document(MongoMove.MARK, 1))) {
            batches
                .computeIfAbsent(
                    each.get(MongoMove.MARK, Document.class).getObjectId("batch"),
                    _ -> new ArrayList<>())
                .add(each.getObjectId("_id"));
          }
          return batches;
        });
    batches.forEach(this::take);
  }
}
