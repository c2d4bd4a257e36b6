package io.millrace.mongo;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Sorts;
import io.millrace.queues.NodeConfig;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.registry.ConfigRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The configuration in {@code config}: of the documents without a field {@code node} the one that
 * is {@code active}, if there is none the oldest, is that of all nodes; one with it is that of the
 * node of this name. {@code plugins}, {@code web_root}, {@code activequeues} and {@code
 * ignorequeues} are read from an object {@code active} as well, if there is one.
 *
 * <p>{@code task_runner} names the runner of the nodes of Disbatch, so nodes of ours ignore it; and
 * so they do what they cannot read.
 */
final class MongoConfig implements QueueBackend.Config {
  private static final Logger LOG = LoggerFactory.getLogger(MongoConfig.class);
  private static final String NODE = "node";
  private static final String ACTIVE = "active";
  private static final Set<String> ACTIVE_FIELDS =
      Set.of("plugins", "web_root", "activequeues", "ignorequeues");
  private static final Set<String> OTHERS = Set.of("task_runner", "web_root", "log4perl");

  private final MongoConnection connection;
  private volatile String complaint = "";

  MongoConfig(MongoConnection connection) {
    this.connection = connection;
  }

  private MongoCollection<Document> config() {
    return connection.collection("config");
  }

  private @Nullable Document document(String scope) {
    // A missing field counts as null.
    Document filter = new Document(NODE, scope.equals(ConfigRegistry.ALL) ? null : scope);
    List<Document> all =
        connection.call(
            () -> config().find(filter).sort(Sorts.ascending("_id")).into(new ArrayList<>()));
    return all.stream()
        .filter(MongoConfig::isActive)
        .findFirst()
        .orElse(all.isEmpty() ? null : all.getFirst());
  }

  private static boolean isActive(Document document) {
    return document.get(ACTIVE) instanceof Document || Boolean.TRUE.equals(document.get(ACTIVE));
  }

  private static ObjectNode fields(@Nullable Document document) {
    if (document == null) {
      return JsonNodeFactory.instance.objectNode();
    }
    ObjectNode json = BsonForm.json(document);
    json.remove(List.of("_id", NODE));
    if (json.get(ACTIVE) instanceof ObjectNode active) {
      ACTIVE_FIELDS.forEach(name -> {
        if (active.has(name)) {
          json.set(name, active.get(name));
        }
      });
    }
    return json;
  }

  @Override
  public ObjectNode fields(String scope) {
    return fields(document(scope));
  }

  @Override
  public ObjectNode set(String scope, ObjectNode changes) {
    Document old = document(scope);
    ObjectNode next = fields(old);
    Document set = new Document();
    Document unset = new Document();
    boolean inActive = old != null && old.get(ACTIVE) instanceof Document;
    changes
        .properties()
        .forEach(change -> {
          String name = change.getKey();
          String path = inActive && ACTIVE_FIELDS.contains(name) ? ACTIVE + "." + name : name;
          if (name.startsWith("$") || name.contains(".") || name.equals("_id")) {
            throw new InvalidRequestException(name, "MongoDB does not keep a field named " + name);
          }
          if (change.getValue().isNull()) {
            next.remove(name);
            unset.append(path, "");
          } else {
            next.set(name, change.getValue());
            ObjectNode one = JsonNodeFactory.instance.objectNode();
            one.set(name, change.getValue());
            set.append(path, BsonForm.document(one, name).get(name));
          }
        });
    var _ = NodeConfig.read(next);
    if (old == null) {
      if (!scope.equals(ConfigRegistry.ALL)) {
        set.append(NODE, scope);
      }
      connection.call(() -> config().insertOne(set));
      return fields(scope);
    }
    Document update = new Document();
    if (!set.isEmpty()) {
      update.append("$set", set);
    }
    if (!unset.isEmpty()) {
      update.append("$unset", unset);
    }
    if (!update.isEmpty()) {
      connection.call(() -> config().updateOne(new Document("_id", old.get("_id")), update));
    }
    return fields(scope);
  }

  @Override
  public List<ObjectNode> allFields() {
    return connection.call(() -> {
      List<ObjectNode> all = new ArrayList<>();
      config().find().forEach(each -> all.add(fields(each)));
      return all;
    });
  }

  @Override
  public NodeConfig forNode(String node) {
    ObjectNode merged = fields(ConfigRegistry.ALL);
    fields(node).properties().forEach(field -> merged.set(field.getKey(), field.getValue()));
    merged.remove(OTHERS);
    while (true) {
      try {
        NodeConfig read = NodeConfig.read(merged);
        complaint = "";
        return read;
      } catch (InvalidRequestException e) {
        String now = String.valueOf(e.getMessage());
        if (!now.equals(complaint)) {
          LOG.warn("a field of the configuration is ignored: {}", now);
          complaint = now;
        }
        if (merged.remove(e.field()) == null) {
          return NodeConfig.DEFAULTS;
        }
      }
    }
  }
}
