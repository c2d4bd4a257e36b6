package io.millrace.server.graph;

import io.millrace.graph.Caller;
import io.millrace.graph.GraphChanges;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphGroups;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphRegistry.Added;
import io.millrace.graph.GraphRegistry.DataPage;
import io.millrace.graph.GraphRegistry.DataWrite;
import io.millrace.graph.GraphRegistry.Page;
import io.millrace.graph.GraphRegistry.Removal;
import io.millrace.graph.Kill;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Uniqueness;
import io.millrace.http.json.Json;
import io.millrace.server.Contract;
import io.millrace.work.policy.UniqueKey;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A graph over HTTP, for anybody. */
final class HttpGraphRegistry implements GraphRegistry, AutoCloseable {
  private final Calls calls;

  HttpGraphRegistry(URI root, Contract contract) {
    this.calls = new Calls(root, contract);
  }

  private static String at(NodeId id) {
    return "/nodes/" + id;
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  @Override
  public Added add(Caller caller, List<NewNode> nodes, Uniqueness unique, @Nullable Long expected) {
    ArrayNode body = Json.array();
    nodes.forEach(node -> body.add(Forms.form(node)));
    JsonNode answer = calls.send("POST", "/nodes" + query(unique), body, expected);
    List<NodeId> ids =
        answer
            .valueStream()
            .map(each -> NodeId.parse(each.get("id").asString()).orElseThrow())
            .toList();
    boolean duplicate = answer.path(0).path("duplicate").asBoolean(false);
    ArrayNode left = Json.array();
    answer.valueStream().filter(each -> each.has("state")).forEach(left::add);
    return new Added(ids, Forms.nodes(left), duplicate);
  }

  private static String query(Uniqueness unique) {
    List<String> parameters = new ArrayList<>();
    UniqueKey key = unique.key();
    if (key != null) {
      parameters.add(
          key.key() == null
              ? "unique_fields=" + encoded(String.join(",", key.fields()))
              : "unique=" + encoded(key.key()));
      parameters.add("unique_scope=" + key.scope().word());
      if (key.period() != null) {
        parameters.add("unique_period=" + key.period().toMillis() + "ms");
      }
    }
    if (unique.request() != null) {
      parameters.add("requestid=" + encoded(unique.request()));
    }
    return parameters.isEmpty() ? "" : "?" + String.join("&", parameters);
  }

  @Override
  public GraphNode move(Caller caller, NodeId id, NewNode.Place place, @Nullable Long expected) {
    ObjectNode body = Json.object();
    Forms.place(body, place);
    return Forms.node(calls.send("PATCH", at(id), body, expected));
  }

  @Override
  public GraphNode rename(
      Caller caller, NodeId id, @Nullable String name, @Nullable Long expected) {
    return Forms.node(calls.send("PATCH", at(id), Json.object().put("name", name), expected));
  }

  @Override
  public int remove(Caller caller, NodeId id, Removal removal, @Nullable Long expected) {
    JsonNode answer = calls.send("DELETE", at(id) + query(removal), null, expected);
    return answer.required("removed").asInt();
  }

  private static String query(Removal removal) {
    return switch (removal) {
      case LEAF -> "";
      case ALONE -> "?below=false";
      case SUBTREE -> "?below=true";
    };
  }

  @Override
  public GraphNode retry(Caller caller, NodeId id, @Nullable Long expected) {
    return Forms.node(calls.send("POST", at(id) + "/retry", null, expected));
  }

  @Override
  public void kill(Caller caller, Collection<NodeId> ids, Kill kill, @Nullable Long expected) {
    String all = ids.stream().map(NodeId::toString).collect(Collectors.joining(","));
    String how = "&signal=" + kill.signal() + "&grace=" + kill.grace().toSeconds();
    calls.send("PUT", "/scheduler/kill?id=" + all + how, null, expected);
  }

  @Override
  public long version() {
    return snapshot(NodeFilter.ALL).version();
  }

  @Override
  public Optional<GraphNode> node(NodeId id) {
    try {
      return Optional.of(Forms.node(calls.get(at(id))));
    } catch (UnknownNodeException _) {
      return Optional.empty();
    }
  }

  @Override
  public Map<NodeState, Long> counts() {
    return snapshot(NodeFilter.ALL).nodes().stream()
        .collect(Collectors.groupingBy(GraphNode::state, Collectors.counting()));
  }

  @Override
  public GraphGroups groups(UnaryOperator<String> label, String none) {
    throw new UnsupportedOperationException("the API has no counts by graph");
  }

  private static String query(NodeFilter filter, Page.@Nullable Wanted wanted) {
    return "?timeout=0" + selection(filter) + page(wanted);
  }

  private static String selection(NodeFilter filter) {
    StringBuilder query = new StringBuilder();
    filter.types().forEach(type -> query.append("&type=").append(encoded(type)));
    filter.states().stream()
        .map(NodeState::word)
        .forEach(state -> query.append("&state=").append(state));
    if (filter.below() != null) {
      query.append("&below=").append(filter.below());
    }
    if (filter.newerThan() > 0) {
      query.append("&new=").append(filter.newerThan());
    }
    return query.toString();
  }

  private static String page(Page.@Nullable Wanted wanted) {
    return wanted == null
        ? "&start="
        : "&start=" + encoded(wanted.start()) + "&pid=" + encoded(wanted.view());
  }

  private static <T> Page<T> page(
      JsonNode json, String field, Function<JsonNode, T> reader, long version) {
    List<T> items = new ArrayList<>();
    json.required(field).forEach(each -> items.add(reader.apply(each)));
    return new Page<>(
        items,
        json.at("/pagination/pid").asString(),
        json.at("/pagination/next").asString(null),
        version);
  }

  @Override
  public Page<GraphNode> nodes(
      NodeFilter filter, @Nullable String text, Page.@Nullable Wanted wanted) {
    String part = text == null ? "" : "&text=" + encoded(text);
    Calls.Tagged answer = calls.tagged("/nodes" + query(filter, wanted) + part);
    return page(answer.body(), "nodes", Forms::node, answer.version());
  }

  @Override
  public Snapshot snapshot(NodeFilter filter) {
    try (HttpChanges changes = new HttpChanges(calls, "?" + selection(filter))) {
      JsonNode first = changes.message();
      return new Snapshot(first.required("version").asLong(), Forms.nodes(first.required("nodes")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public List<GraphNode> running() {
    return Forms.nodes(calls.get("/running"));
  }

  @Override
  public Page<String> keys(NodeId id, Page.@Nullable Wanted wanted) {
    String query = page(wanted).replaceFirst("&", "?");
    long version = node(id).map(GraphNode::version).orElse(0L);
    return page(calls.get(at(id) + "/data" + query), "keys", JsonNode::asString, version);
  }

  @Override
  public DataPage data(NodeId id, String key, @Nullable String view, int slot) {
    String query = "?start=" + slot + (view == null ? "" : "&pid=" + encoded(view));
    JsonNode answer = calls.get(at(id) + "/data/" + encoded(key) + query);
    return dataPage(answer, answer.required("data"), slot);
  }

  private static DataPage dataPage(JsonNode answer, JsonNode data, int slot) {
    String next = answer.at("/pagination/next").asString(null);
    return new DataPage(
        data,
        answer.at("/pagination/pid").asString(),
        slot,
        next == null ? null : Integer.valueOf(next),
        answer.has("growing"));
  }

  @Override
  public DataPage put(
      Caller caller, NodeId id, String key, DataWrite write, @Nullable Long expected) {
    String query =
        switch (write) {
          case DataWrite.Whole _ -> "";
          case DataWrite.IfUnset _ -> "?start=";
          case DataWrite.Slot(JsonNode _, String view, int slot) ->
              "?start=" + slot + "&pid=" + encoded(view);
        };
    ObjectNode body = Json.object().set("value", write.value());
    JsonNode answer = calls.send("PUT", at(id) + "/data/" + encoded(key) + query, body, expected);
    int slot = write instanceof DataWrite.Slot written ? written.slot() : 0;
    // What was written first is not told again.
    JsonNode data = slot == 0 ? data(id, key, null, 0).data() : write.value();
    return dataPage(answer, data, slot);
  }

  @Override
  public GraphChanges changes(@Nullable Long after) {
    return new HttpChanges(calls, "?after=" + (after == null ? version() : after));
  }

  @Override
  public void close() {
    calls.close();
  }
}
