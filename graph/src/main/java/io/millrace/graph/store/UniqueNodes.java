package io.millrace.graph.store;

import io.millrace.graph.Caller;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import io.millrace.graph.Uniqueness;
import io.millrace.store.Document;
import io.millrace.store.Sha256;
import io.millrace.work.policy.UniqueKey;
import io.millrace.work.policy.UniqueKey.Scope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The unique keys and the id of a request to add nodes. Each is a document that names the nodes of
 * the request that holds it, written in the commit that adds them. All nodes of a request hold a
 * key together, so a graph is added as a whole or not at all.
 */
final class UniqueNodes {
  /**
   * What the request wants to hold.
   *
   * @param name the name of the document
   * @param scope how long it is held if there is no period
   */
  private record Wish(String name, Scope scope, @Nullable Duration period) {}

  /** Ids of requests first. */
  private final List<Wish> wanted = new ArrayList<>();

  /**
   * What a request holds once it adds nodes. Callers whose reach has a limit have keys of their
   * own: those of others would show them that there are such nodes.
   *
   * @throws InvalidGraphException if no node has one of the fields that make the key
   */
  UniqueNodes(Caller caller, Uniqueness unique, List<NewNode> nodes) {
    String reach =
        caller instanceof Caller.Subtrees(var tops)
            ? tops.stream().sorted().map(NodeId::toString).collect(Collectors.joining(","))
            : "";
    if (unique.request() != null) {
      wanted.add(
          new Wish(
              Sha256.hex("request " + reach + " " + unique.request()),
              Scope.UNFINISHED,
              Uniqueness.REQUEST_PERIOD));
    }
    UniqueKey key = unique.key();
    if (key != null) {
      String text =
          key.key() == null
              ? "fields " + reach + " " + fields(key, nodes)
              : "key " + reach + " " + key.key();
      wanted.add(new Wish(Sha256.hex(text), key.scope(), key.period()));
    }
  }

  /** The types of the nodes and what they have in the fields. */
  private static String fields(UniqueKey key, List<NewNode> nodes) {
    for (String name : key.fields()) {
      if (nodes.stream().allMatch(node -> value(node, name) == null)) {
        throw new InvalidGraphException("no node has the unique field \"" + name + "\"");
      }
    }
    return nodes.stream()
        .map(node -> key.hash(name -> value(node, name)) + " " + node.type())
        .collect(Collectors.joining(","));
  }

  private static @Nullable String value(NewNode node, String name) {
    JsonNode value = node.data().get(name);
    return value == null || value.isNull() ? null : value.toString();
  }

  /** The nodes of the request that holds the id or the key; empty if both are free. */
  Optional<List<NodeId>> holders(WriteModel model) {
    for (Wish wish : wanted) {
      Hold hold = model.hold(wish.name);
      if (hold != null && hold.isHeld(id -> model.find(id).orElse(null), model.nowMillis())) {
        return Optional.of(hold.ids());
      }
    }
    return Optional.empty();
  }

  /** Has the nodes that were added hold the id and the key. */
  void take(WriteModel model, List<NodeId> added) {
    for (Wish wish : wanted) {
      long until = wish.period == null ? 0 : model.nowMillis() + wish.period.toMillis();
      Hold hold = new Hold(added.getFirst().value(), added.size(), wish.scope, until);
      model.hold(wish.name, hold);
    }
  }

  /**
   * The document of a key or of the id of a request.
   *
   * @param first the first of the nodes that hold it, whose ids follow each other
   * @param until until when they hold it, in milliseconds since 1970; 0 for as long as the scope
   *     says
   */
  record Hold(long first, int count, Scope scope, long until) {
    static Hold read(Document document) {
      return Json.read(
          document,
          json ->
              new Hold(
                  json.required("first").asLong(),
                  json.required("count").asInt(),
                  Scope.of(json.path("scope").asString("")).orElse(Scope.UNFINISHED),
                  json.path("until").asLong(0)));
    }

    ObjectNode json() {
      ObjectNode json = Json.object().put("first", first).put("count", count);
      return until > 0 ? json.put("until", until) : json.put("scope", scope.word());
    }

    List<NodeId> ids() {
      return LongStream.range(first, first + count).mapToObj(NodeId::new).toList();
    }

    /**
     * Whether the key is not free yet.
     *
     * @param find gives a node; null if it has left the graph
     */
    boolean isHeld(Function<NodeId, @Nullable GraphNode> find, long nowMillis) {
      if (until > 0) {
        return until > nowMillis;
      }
      List<GraphNode> nodes = ids().stream().map(find).filter(Objects::nonNull).toList();
      boolean started = nodes.size() < count || nodes.stream().anyMatch(UniqueNodes::hasStarted);
      return scope.holds(
          started, nodes.stream().map(GraphNode::state).allMatch(NodeState::isSettled));
    }
  }

  private static boolean hasStarted(GraphNode node) {
    return node.phase().attempt() > 0 || !(node.phase() instanceof Phase.Waiting);
  }
}
