package io.millrace.mongo;

import com.mongodb.ErrorCategory;
import com.mongodb.MongoException;
import com.mongodb.MongoWriteException;
import io.millrace.blobs.Tail;
import io.millrace.mongo.MongoMove.Counter;
import io.millrace.mongo.MongoMove.Moved;
import io.millrace.mongo.MongoMove.Selection;
import io.millrace.mongo.MongoMove.Sides;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueuesException.TaskStateException;
import io.millrace.queues.Status;
import io.millrace.queues.registry.Queues;
import io.millrace.queues.registry.TaskIndex.TaskKind;
import io.millrace.queues.registry.TaskTransfer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * The export of one queue. A task of the store that has not finished is first held, then inserted
 * in the database, then deleted in the store. Finished ones are copied.
 */
final class MongoExport extends MongoMove.OfQueue {
  private static final long TEXT_BYTES = 4 << 20;
  private static final Pattern REASON = Pattern.compile("moves to MongoDB with status (-\\d+)");

  private final Queues store;
  private final GridFiles files;
  private final MongoDefinitions definitions;

  MongoExport(Sides sides, Queue queue, Selection selection, Counter counter) {
    super(sides, queue, selection, counter);
    this.store = sides.store();
    this.files = new GridFiles(sides.connection());
    this.definitions = sides.definitions();
  }

  Moved run() {
    if (!queue.settings().policy().isEmpty() || queue.settings().requeueOrphans() > 0) {
      tally.problems.add("settings that queues in MongoDB do not have were left out");
    }
    if (!dry) {
      define();
    }
    for (TaskKind kind : List.of(TaskKind.QUEUED, TaskKind.HELD, TaskKind.FINISHED)) {
      for (String id : store.index().ids(queue.id(), kind, false)) {
        store.tasks().find(new ObjectId(id)).ifPresent(this::move);
        counter.add(1);
      }
    }
    long active = 0;
    for (String _ : store.index().ids(queue.id(), TaskKind.ACTIVE, false)) {
      active++;
    }
    return tally.moved(queue, active);
  }

  private void define() {
    if (definitions.find(queue.id()).isEmpty()) {
      Document document =
          new Document("_id", BsonForm.id(queue.id()))
              .append("name", queue.name())
              .append("plugin", queue.plugin())
              .append("threads", 0)
              .append("sort", queue.settings().sort().word());
      if (!queue.settings().nodesPin().isEmpty()) {
        document.append("nodes_pin", queue.settings().nodesPin());
      }
      if (!queue.settings().nodesIgnore().isEmpty()) {
        document.append("nodes_ignore", queue.settings().nodesIgnore());
      }
      sides.connection().call(() -> sides.connection().collection("queues").insertOne(document));
    }
  }

  private void move(QueueTask task) {
    if (Status.isActive(task.status())) {
      return;
    }
    if (Status.isFinished(task.status())) {
      if (!dry) {
        insert(document(task, task.status()));
      }
      tally.add(task.status());
      return;
    }
    if (task.status() == Status.QUEUED
        && task.progress().retries().notBeforeMillis() > sides.clock().millis()) {
      tally.problems.add("task " + task.id() + " is delayed, which tasks in MongoDB cannot be");
      return;
    }
    String reason = task.progress().reason();
    Matcher before = REASON.matcher(reason == null ? "" : reason);
    boolean begun = task.status() == TaskTransfer.MOVED && before.matches();
    int status = begun ? Integer.parseInt(before.group(1)) : task.status();
    if (!dry) {
      Optional<QueueTask> held = Optional.of(task);
      try {
        if (!begun) {
          held =
              store
                  .tasks()
                  .hold(task.id(), TaskTransfer.MOVED, "moves to MongoDB with status " + status);
        }
      } catch (TaskStateException e) {
        // It has been claimed just now.
        return;
      }
      if (held.isEmpty()) {
        return;
      }
      insert(document(held.get(), status));
      if (!transfer.giveUp(held.get())) {
        tally.problems.add("task " + task.id() + " was changed while it moved, and is in both");
      }
    }
    tally.add(status);
  }

  /** Inserts a task unless it is there; what an import has left of it is replaced. */
  private void insert(Document document) {
    try {
      collection().insertOne(document);
    } catch (MongoWriteException e) {
      if (ErrorCategory.fromErrorCode(e.getCode()) != ErrorCategory.DUPLICATE_KEY) {
        throw MongoConnection.failed(e);
      }
      Document moved =
          new Document("_id", document.get("_id"))
              .append(MongoMove.MARK + ".moved", new Document("$exists", true));
      sides.connection().call(() -> collection().replaceOne(moved, document));
    } catch (MongoException e) {
      throw MongoConnection.failed(e);
    }
  }

  private Document document(QueueTask task, int status) {
    Document document =
        new Document("_id", BsonForm.id(task.id()))
            .append("queue", BsonForm.id(task.queue()))
            .append("ctime", Date.from(Instant.ofEpochMilli(task.ctimeMillis())))
            .append("mtime", Date.from(Instant.ofEpochMilli(task.progress().mtimeMillis())))
            .append("node", Status.isFinished(status) ? task.progress().node() : null)
            .append("status", status)
            .append("params", BsonForm.document(task.params(), "params"));
    document.append("stdout", field(task, "stdout", task.output().stdout()));
    return document.append("stderr", field(task, "stderr", task.output().stderr()));
  }

  private @Nullable Object field(QueueTask task, String stream, Output output) {
    return switch (output) {
      case Output.None() -> null;
      case Output.Text(String text) -> text;
      case Output.Stored stored -> {
        Tail content =
            store
                .file(stored.file())
                .<Tail>map(file -> file.content(sides.blobs()))
                .orElse(Tail.of(""));
        if (stored.shownAsText() && stored.sizeBytes() <= TEXT_BYTES) {
          yield new String(content.read(0, (int) TEXT_BYTES), StandardCharsets.UTF_8);
        }
        files.store(stored.file(), task.id(), stream, content.open(0));
        yield BsonForm.id(stored.file());
      }
    };
  }
}
