package io.millrace.server.graph;

import io.millrace.graph.Definition;
import io.millrace.graph.Definition.Branch;
import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphChanges.GraphEvent;
import io.millrace.graph.GraphNode;
import io.millrace.graph.NewNode;
import io.millrace.graph.NewNode.NodeRef;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import io.millrace.graph.Timing;
import io.millrace.http.json.Json;
import io.millrace.work.policy.EndedAttempt;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The JSON of the API, seen from a client. */
final class Forms {
  private Forms() {}

  static ObjectNode form(NewNode form) {
    ObjectNode node = Json.object();
    ObjectNode metadata = node.putObject("metadata").put("type", form.type());
    if (form.local() != null) {
      metadata.put("local", form.local());
    }
    if (form.name() != null) {
      metadata.put("name", form.name());
    }
    metadata.put("always", form.always());
    place(metadata, form.place());
    ObjectNode data = node.putObject("data");
    form.data().forEach(data::set);
    return node;
  }

  static void place(ObjectNode metadata, NewNode.Place place) {
    metadata.set("parents", refs(place.parents()));
    metadata.set("after", refs(place.after()));
    Branch branch = place.branch();
    metadata.put("branch", branch == null ? null : branch.name().toLowerCase(Locale.ROOT));
  }

  private static ArrayNode refs(List<NodeRef> refs) {
    ArrayNode array = Json.array();
    refs.forEach(ref -> array.add(ref.toString()));
    return array;
  }

  static GraphNode node(JsonNode json) {
    NodeState state = NodeState.of(json.required("state").asString()).orElseThrow();
    return new GraphNode(
        id(json.required("id")),
        json.path("name").asString(null),
        definition(json),
        phase(json, state),
        state,
        json.path("reason").asString(""),
        json.required("created").asLong(),
        json.required("version").asLong());
  }

  private static Definition definition(JsonNode json) {
    String type = json.required("type").asString();
    Kind kind =
        switch (type) {
          case "condition" -> Kind.CONDITION;
          case "group" -> Kind.GROUP;
          default -> Kind.WORK;
        };
    return new Definition(
        type,
        kind,
        ids(json.required("parents")),
        ids(json.required("after")),
        branch(json.get("branch")),
        json.path("always").asBoolean(false),
        Timing.NONE);
  }

  private static Phase phase(JsonNode json, NodeState state) {
    Phase.Attempts attempts =
        new Phase.Attempts(
            json.required("attempt").asInt(),
            json.path("interrupted").asInt(0),
            json.path("snoozed").asInt(0),
            EndedAttempt.read(json.get("endedAttempts")));
    long started = json.path("started").asLong(0);
    return switch (state) {
      case RUNNING -> new Phase.Running(attempts, started, json.has("killing"));
      case FINISHED, FAILED, KILLED ->
          new Phase.Ended(
              attempts,
              state,
              json.path("reason").asString(""),
              branch(json.get("taken")),
              started,
              json.required("ended").asLong());
      default -> new Phase.Waiting(attempts, json.path("notBefore").asLong(0), "");
    };
  }

  private static @Nullable Branch branch(@Nullable JsonNode word) {
    return word == null ? null : Branch.valueOf(word.asString().toUpperCase(Locale.ROOT));
  }

  static NodeId id(JsonNode text) {
    return NodeId.parse(text.asString()).orElseThrow();
  }

  private static List<NodeId> ids(JsonNode array) {
    List<NodeId> ids = new ArrayList<>();
    array.forEach(each -> ids.add(id(each)));
    return ids;
  }

  static List<GraphNode> nodes(JsonNode array) {
    List<GraphNode> nodes = new ArrayList<>();
    array.forEach(each -> nodes.add(node(each)));
    return nodes;
  }

  /** An event; of removed nodes only the ids are told. */
  static GraphEvent event(JsonNode json) {
    List<GraphNode> removed = new ArrayList<>();
    Definition unknown =
        new Definition("", Kind.WORK, List.of(), List.of(), null, false, Timing.NONE);
    for (NodeId id : ids(json.required("removed"))) {
      removed.add(new GraphNode(id, null, unknown, Phase.first(), NodeState.READY, "", 0, 0));
    }
    return new GraphEvent(
        json.required("version").asLong(), nodes(json.required("changed")), removed);
  }
}
