package io.millrace.queues.registry;

import io.millrace.queues.Json;
import io.millrace.queues.ObjectId;
import io.millrace.queues.QueueTask.Hold;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.policy.UniqueKey;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The unique keys of the tasks that one transaction creates. A key is a document that the
 * transaction writes at the version that was read: of two submissions with one key only one is
 * committed, and the other one reads again.
 */
final class UniqueHolds {
  private final QueueSession session;
  private final ObjectId queue;
  private final UniqueKey unique;
  private final long nowMillis;
  private final Map<String, ObjectId> taken = new HashMap<>();

  UniqueHolds(QueueSession session, ObjectId queue, UniqueKey unique, long nowMillis) {
    this.session = session;
    this.queue = queue;
    this.unique = unique;
    this.nowMillis = nowMillis;
  }

  /** The task that holds the key of these params: {@code id}, if it is the first. */
  ObjectId take(Transaction.Builder transaction, ObjectId id, ObjectNode params) {
    return taken.computeIfAbsent(hash(params), hash -> takeFirst(transaction, id, hash));
  }

  private ObjectId takeFirst(Transaction.Builder transaction, ObjectId id, String hash) {
    DocumentKey key = Keys.unique(queue, hash);
    Optional<Document> there = session.document(key);
    if (there.isPresent()) {
      ObjectNode holder = Json.read(there.get().body());
      if (!isOver(holder, nowMillis)) {
        return new ObjectId(holder.required("task").asString());
      }
    }
    ObjectNode holder = Json.object().put("task", id.hex());
    Duration period = unique.period();
    if (period != null) {
      holder.put("until", nowMillis + period.toMillis());
    }
    Bytes body = Json.write(holder);
    transaction.put(key, there.map(Document::version).orElse(DocumentVersion.ABSENT), body);
    return id;
  }

  private static boolean isOver(ObjectNode holder, long nowMillis) {
    JsonNode until = holder.get("until");
    return until != null && until.asLong() <= nowMillis;
  }

  /** Whether the period of a key has ended, so that its document may go. */
  static boolean isOver(Document key, long nowMillis) {
    return isOver(Json.read(key.body()), nowMillis);
  }

  /** What a task with these params has to release; null if its key is held for a period. */
  @Nullable Hold hold(ObjectNode params) {
    return unique.period() == null ? new Hold(hash(params), unique.scope()) : null;
  }

  private String hash(ObjectNode params) {
    return unique.hash(name -> params.has(name) ? params.path(name).toString() : null);
  }
}
