package io.millrace.queues.registry;

import io.millrace.queues.Json;
import io.millrace.queues.NodeConfig;
import io.millrace.queues.QueueBackend;
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
 * The stored configuration: for all nodes, and for single nodes, whose fields take precedence. Safe
 * for use by any number of threads.
 */
public final class ConfigRegistry implements QueueBackend.Config {
  /** The scope of all nodes; every other scope is the name of a node. */
  public static final String ALL = "";

  private final QueueSession session;

  ConfigRegistry(QueueSession session) {
    this.session = session;
  }

  /** The fields of a scope as they were set; empty if none was set. */
  @Override
  public ObjectNode fields(String scope) {
    return session
        .document(key(scope))
        .map(found -> Json.read(found.body()))
        .orElseGet(Json::object);
  }

  /**
   * Sets fields; a field whose value is null is unset. Unknown fields are kept for other programs.
   *
   * @return all fields of the scope as they are now
   * @throws InvalidRequestException if a known field has a value of the wrong kind
   */
  @Override
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

  /** The fields of every scope that has any. */
  @Override
  public List<ObjectNode> allFields() {
    return session.all(Keys.CONFIG).stream().map(found -> Json.read(found.body())).toList();
  }

  /** The configuration of the node of this name. */
  @Override
  public NodeConfig forNode(String node) {
    ObjectNode merged = fields(ALL);
    fields(node).properties().forEach(field -> merged.set(field.getKey(), field.getValue()));
    return NodeConfig.read(merged);
  }

  private static DocumentKey key(String scope) {
    return Keys.config(scope.equals(ALL) ? "all" : "node/" + scope);
  }
}
