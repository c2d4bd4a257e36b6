package io.millrace.queues;

import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Transaction.DocumentVersion;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The stored configuration: for all nodes, and for single ones, whose fields go before. Safe for
 * use by any number of threads.
 */
public final class ConfigRegistry {
  /** The scope of what holds for all nodes; every other scope is the name of a node. */
  public static final String ALL = "";

  private final QueueSession session;

  ConfigRegistry(QueueSession session) {
    this.session = session;
  }

  /** The fields as they were set, in one scope; empty if nothing was. */
  public ObjectNode fields(String scope) {
    return session
        .document(key(scope))
        .map(found -> Json.read(found.body()))
        .orElseGet(Json::object);
  }

  /**
   * Sets fields; one whose value is null is unset. Fields that are not known here are kept for
   * others to read.
   *
   * @return all fields of the scope as they are now
   * @throws InvalidRequestException when a known field has a value of the wrong kind
   */
  public ObjectNode set(String scope, ObjectNode changes) {
    return session.retry(
        "the configuration",
        () -> {
          Optional<Document> found = session.document(key(scope));
          ObjectNode next = found.map(old -> Json.read(old.body())).orElseGet(Json::object);
          for (Map.Entry<String, JsonNode> change : changes.properties()) {
            if (change.getValue().isNull()) {
              next.remove(change.getKey());
            } else {
              next.set(change.getKey(), change.getValue());
            }
          }
          NodeConfig.read(next);
          long version = found.map(Document::version).orElse(DocumentVersion.ABSENT);
          var transaction = session.begin().put(key(scope), version, Json.write(next)).build();
          return session.tryCommit(transaction) == null ? null : next;
        });
  }

  /** The fields of every scope in which some are set. */
  public List<ObjectNode> allFields() {
    return session.all(Keys.CONFIG).stream().map(found -> Json.read(found.body())).toList();
  }

  /** What the node of this name is to do. */
  public NodeConfig forNode(String node) {
    ObjectNode merged = fields(ALL);
    fields(node).properties().forEach(field -> merged.set(field.getKey(), field.getValue()));
    return NodeConfig.read(merged);
  }

  private static DocumentKey key(String scope) {
    return Keys.config(scope.equals(ALL) ? "all" : "node/" + scope);
  }
}
