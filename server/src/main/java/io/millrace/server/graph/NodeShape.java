package io.millrace.server.graph;

import io.millrace.graph.Definition;
import io.millrace.graph.GraphNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.Phase;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.store.StandbyStore.LeaderNeededException;
import io.millrace.work.policy.EndedAttempt;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The metadata of a node as a client wants it.
 *
 * @param fields the names of the fields to show besides the id; null for all
 */
record NodeShape(@Nullable Set<String> fields) {
  /** The parent of a node that is directly below the root. */
  static final String ROOT = "root";

  private static final String VERSION = "version";

  /** The names of all fields, in the order in which they are shown. */
  static final List<String> FIELDS =
      List.of(
          "id",
          "name",
          "type",
          "parent",
          "parents",
          "after",
          "branch",
          "always",
          "state",
          "reason",
          "attempt",
          "interrupted",
          "snoozed",
          "endedAttempts",
          "created",
          "started",
          "ended",
          "notBefore",
          "taken",
          "killing",
          VERSION);

  /** Another name for {@code state}, which the original API has too. */
  static final String STATUS = "status";

  /**
   * The shape of the parameter {@code metadata}, a list with commas; all metadata if it is absent.
   *
   * @throws HttpProblem 400 for an unknown name
   */
  static NodeShape selected(Query query) {
    List<String> given = query.texts("metadata");
    if (given.isEmpty()) {
      return new NodeShape(null);
    }
    Set<String> fields = new LinkedHashSet<>();
    for (String name : String.join(",", given).split(",", -1)) {
      if (!name.isEmpty() && !FIELDS.contains(name) && !name.equals(STATUS)) {
        throw HttpProblem.malformed(
            "there is no metadata \"" + name + "\", only " + String.join(", ", FIELDS));
      }
      fields.add(name);
    }
    return new NodeShape(fields);
  }

  /** The wanted metadata of a node. */
  ObjectNode shape(GraphNode node) {
    ObjectNode all = of(node);
    if (fields == null) {
      return all;
    }
    if (fields.contains(VERSION) && node.version() == 0) {
      throw new LeaderNeededException("only the leader knows the versions of nodes");
    }
    ObjectNode chosen = Json.object().put("id", node.id().toString());
    for (String field : fields) {
      JsonNode value = all.get(field.equals(STATUS) ? "state" : field);
      if (value != null) {
        chosen.set(field, value);
      }
    }
    return chosen;
  }

  /** The wanted metadata of each node. */
  ArrayNode shapes(List<GraphNode> nodes) {
    return Json.array(nodes, this::shape);
  }

  /** All metadata; fields that are unknown or have no meaning for this node are absent. */
  static ObjectNode of(GraphNode node) {
    ObjectNode json = Json.object();
    Definition definition = node.definition();
    json.put("id", node.id().toString());
    if (node.name() != null) {
      json.put("name", node.name());
    }
    json.put("type", definition.type());
    json.put(
        "parent",
        definition.parents().isEmpty() ? ROOT : definition.parents().getFirst().toString());
    json.set("parents", ids(definition.parents()));
    json.set("after", ids(definition.after()));
    if (definition.branch() != null) {
      json.put("branch", word(definition.branch()));
    }
    if (definition.always()) {
      json.put("always", true);
    }
    json.put("state", node.state().word());
    if (!node.reason().isEmpty()) {
      json.put("reason", node.reason());
    }
    json.put("attempt", node.phase().attempt());
    putPositive(json, "interrupted", node.phase().attempts().interrupted());
    putPositive(json, "snoozed", node.phase().attempts().snoozed());
    List<EndedAttempt> attempts = node.phase().attempts().ended();
    if (!attempts.isEmpty()) {
      json.set("endedAttempts", EndedAttempt.write(attempts));
    }
    json.put("created", node.createdMillis());
    addPhase(json, node.phase());
    putPositive(json, VERSION, node.version());
    return json;
  }

  private static void addPhase(ObjectNode json, Phase phase) {
    switch (phase) {
      case Phase.Waiting waiting -> putPositive(json, "notBefore", waiting.notBeforeMillis());
      case Phase.Running running -> {
        putPositive(json, "started", running.startedMillis());
        if (running.killing()) {
          json.put("killing", true);
        }
      }
      case Phase.Ended ended -> {
        putPositive(json, "started", ended.startedMillis());
        putPositive(json, "ended", ended.endedMillis());
        if (ended.taken() != null) {
          json.put("taken", word(ended.taken()));
        }
      }
    }
  }

  private static void putPositive(ObjectNode json, String field, long number) {
    if (number > 0) {
      json.put(field, number);
    }
  }

  private static ArrayNode ids(List<NodeId> ids) {
    ArrayNode array = Json.array();
    ids.forEach(id -> array.add(id.toString()));
    return array;
  }

  private static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
