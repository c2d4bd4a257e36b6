package io.millrace.mongo;

import com.mongodb.MongoException;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.UpdateOptions;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.bson.Document;
import org.bson.types.ObjectId;

/**
 * An execution node of Disbatch 4 with its task runner, written from its protocol alone. Its runner
 * repeats a change until it is answered, its node does not.
 */
final class OldNode {
  private final TestDatabase database;
  private final String node;

  OldNode(TestDatabase database, String node) {
    this.database = database;
    this.node = node;
  }

  private MongoCollection<Document> tasks() {
    return database.collection("tasks");
  }

  /** Creates a queue as the protocol has it. */
  static ObjectId queue(TestDatabase database, String name, Object threads, String sort) {
    Document queue =
        new Document("name", name)
            .append("plugin", "Disbatch::Plugin::Demo")
            .append("threads", threads)
            .append("sort", sort);
    database.collection("queues").insertOne(queue);
    return queue.getObjectId("_id");
  }

  /** Creates a task as the protocol has it. */
  static ObjectId task(TestDatabase database, ObjectId queue, Document params) {
    Document task =
        new Document("queue", queue)
            .append("ctime", Date.from(Instant.now()))
            .append("mtime", Date.from(Instant.now()))
            .append("node", null)
            .append("status", -2)
            .append("params", params)
            .append("stdout", null)
            .append("stderr", null);
    database.collection("tasks").insertOne(task);
    return task.getObjectId("_id");
  }

  void refresh() {
    database
        .collection("nodes")
        .updateOne(
            new Document("node", node),
            new Document("$set", new Document("timestamp", Date.from(Instant.now()))),
            new UpdateOptions().upsert(true));
  }

  /** Claims the oldest task within the queue's limit. */
  Optional<Document> claim(ObjectId queue) {
    Document definition = database.collection("queues").find(new Document("_id", queue)).first();
    long running =
        tasks()
            .countDocuments(
                new Document("queue", queue).append("status", new Document("$in", List.of(-1, 0))));
    if (definition == null || running >= definition.getInteger("threads")) {
      return Optional.empty();
    }
    return Optional.ofNullable(
        tasks()
            .findOneAndUpdate(
                new Document("node", null).append("status", -2).append("queue", queue),
                new Document(
                    "$set",
                    new Document("node", node)
                        .append("status", -1)
                        .append("mtime", Date.from(Instant.now()))),
                new FindOneAndUpdateOptions()
                    .sort(new Document("_id", 1))
                    .returnDocument(ReturnDocument.AFTER)));
  }

  /** Whether the task is its runner's; an answer that was lost is cleared up by the status. */
  boolean begin(Document task) {
    Document own = new Document("_id", task.get("_id")).append("node", node);
    Document claimed = new Document(own).append("status", -1);
    Document begin = new Document("$set", new Document("status", 0));
    boolean begun = answered(() -> tasks().updateOne(claimed, begin)).getModifiedCount() == 1;
    Document running = new Document(own).append("status", 0);
    return begun || answered(() -> tasks().countDocuments(running)) == 1;
  }

  void finish(Document task, int status, String stdout) {
    Document fields =
        new Document("status", status)
            .append("stdout", stdout)
            .append("stderr", "")
            .append("mtime", Date.from(Instant.now()));
    Document own = new Document("_id", task.get("_id"));
    var _ = answered(() -> tasks().updateOne(own, new Document("$set", fields)));
  }

  private static <T> T answered(Supplier<T> call) {
    while (true) {
      try {
        return call.get();
      } catch (MongoException e) {
        LockSupport.parkNanos(5_000_000);
      }
    }
  }
}
