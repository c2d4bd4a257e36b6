package io.millrace.graph.store;

import io.millrace.graph.Branch;
import io.millrace.graph.Definition;
import io.millrace.graph.GraphNode;
import io.millrace.graph.Kill;
import io.millrace.graph.Kind;
import io.millrace.graph.NodeId;
import io.millrace.graph.Phase;
import io.millrace.graph.model.Change;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A node as it is stored: the facts, and nothing that follows from them.
 *
 * @param facts where it is, and what happened to it
 * @param kill how it is to be ended; null where nobody asked for that
 */
record StoredNode(Change.Added facts, @Nullable Kill kill) {

  static StoredNode of(GraphNode node, @Nullable Kill kill) {
    return new StoredNode(
        new Change.Added(
            node.id(), node.definition(), node.phase(), node.name(), node.createdMillis()),
        kill);
  }

  static StoredNode read(Document document) {
    return Json.read(document, json -> read(Keys.id(document.key()), json));
  }

  private static StoredNode read(NodeId id, ObjectNode json) {
    Definition definition =
        new Definition(
            json.required("type").asString(),
            json.has("kind") ? constant(Kind.class, json.required("kind")) : Kind.WORK,
            ids(json.path("parents")),
            ids(json.path("after")),
            json.has("branch") ? constant(Branch.class, json.required("branch")) : null,
            json.path("always").asBoolean(false));
    String name = json.has("name") ? json.required("name").asString() : null;
    Kill kill = json.has("kill") ? StoredKill.read(json.required("kill")) : null;
    Phase phase = StoredPhase.read(json);
    return new StoredNode(
        new Change.Added(id, definition, phase, name, json.required("created").asLong()), kill);
  }

  Bytes write() {
    Definition definition = facts.definition();
    ObjectNode json = Json.object();
    json.put("type", definition.type());
    if (definition.kind() != Kind.WORK) {
      json.put("kind", word(definition.kind()));
    }
    if (facts.name() != null) {
      json.put("name", facts.name());
    }
    putIds(json, "parents", definition.parents());
    putIds(json, "after", definition.after());
    if (definition.branch() != null) {
      json.put("branch", word(definition.branch()));
    }
    if (definition.always()) {
      json.put("always", true);
    }
    json.put("created", facts.createdMillis());
    StoredPhase.write(facts.phase(), json);
    if (kill != null) {
      json.set("kill", StoredKill.write(kill));
    }
    return Json.write(json);
  }

  private static List<NodeId> ids(JsonNode json) {
    List<NodeId> ids = new ArrayList<>(json.size());
    json.forEach(id -> ids.add(new NodeId(id.asLong())));
    return ids;
  }

  private static void putIds(ObjectNode json, String field, List<NodeId> ids) {
    if (!ids.isEmpty()) {
      ArrayNode array = json.putArray(field);
      ids.forEach(id -> array.add(id.value()));
    }
  }

  static <E extends Enum<E>> E constant(Class<E> type, JsonNode word) {
    return Enum.valueOf(type, word.asString().toUpperCase(Locale.ROOT));
  }

  static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
