package io.millrace.mongo;

import com.mongodb.client.model.IndexOptions;
import io.millrace.queues.QueuesException.UnreachableException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.bson.Document;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The indexes that nodes, runners and the command interface need. */
final class MongoIndexes {
  private static final Logger LOG = LoggerFactory.getLogger(MongoIndexes.class);

  private static final List<Index> NEEDED =
      List.of(
          new Index("queues", keys("name"), true),
          new Index("nodes", keys("node"), true),
          new Index("tasks", keys("node", "status", "queue"), false),
          new Index("tasks", keys("node", "status", "queue", "_id"), false),
          new Index("tasks", keys("node", "status", "queue").append("_id", -1), false),
          new Index("tasks", keys("queue", "status"), false),
          new Index("tasks.chunks", keys("files_id", "n"), true),
          new Index("tasks.files", keys("metadata.task_id"), false));

  private MongoIndexes() {}

  /**
   * An index.
   *
   * @param keys the fields, each with 1 for ascending or -1 for descending
   * @param unique whether no two documents have the same values
   */
  record Index(String collection, Document keys, boolean unique) {
    private boolean isOne(Document there) {
      Document other = there.get("key", Document.class);
      return new ArrayList<>(other.keySet()).equals(new ArrayList<>(keys.keySet()))
          && keys.keySet().stream()
              .allMatch(name -> BsonForm.integer(other, name, 0) == BsonForm.integer(keys, name, 0))
          && (!unique || Boolean.TRUE.equals(there.get("unique")));
    }

    /** For people, as in {@code tasks (node, status, queue, _id descending)}. */
    @Override
    public String toString() {
      return keys.entrySet().stream()
          .map(key -> key.getKey() + (key.getValue().equals(-1) ? " descending" : ""))
          .collect(Collectors.joining(", ", collection + " (", unique ? "; unique)" : ")"));
    }
  }

  private static Document keys(String... names) {
    Document keys = new Document();
    for (String name : names) {
      keys.append(name, 1);
    }
    return keys;
  }

  /**
   * Those that the database does not have.
   *
   * @throws UnreachableException also if the credentials do not suffice to list indexes
   */
  static List<Index> missing(MongoConnection connection) {
    List<Index> missing = new ArrayList<>(NEEDED);
    for (String collection : NEEDED.stream().map(Index::collection).distinct().toList()) {
      connection
          .call(() -> connection.collection(collection).listIndexes().into(new ArrayList<>()))
          .forEach(there ->
              missing.removeIf(
                  index -> index.collection().equals(collection) && index.isOne(there)));
    }
    return missing;
  }

  /**
   * Creates those that are missing. One that cannot be created, because queues or nodes have the
   * same name or the credentials do not suffice, is reported in the log.
   */
  static void ensure(MongoConnection connection) {
    List<Index> wanted;
    try {
      wanted = missing(connection);
    } catch (UnreachableException e) {
      LOG.debug("indexes cannot be listed: {}", MongoConnection.refusal(e));
      wanted = NEEDED;
    }
    for (Index index : wanted) {
      try {
        connection.call(() ->
            connection
                .collection(index.collection())
                .createIndex(index.keys(), new IndexOptions().unique(index.unique())));
      } catch (UnreachableException e) {
        LOG.warn("the index {} cannot be created: {}", index, MongoConnection.refusal(e));
      }
    }
  }
}
