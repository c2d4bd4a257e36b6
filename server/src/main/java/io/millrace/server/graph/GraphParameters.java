package io.millrace.server.graph;

import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphRegistry.Page;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.http.Caller.Reach.Area;
import io.millrace.http.Request;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Reads parameters of requests: nodes, pages and expected versions. */
final class GraphParameters {
  private static final int MAX_DIGITS = 18;

  private GraphParameters() {}

  /**
   * The id in the path.
   *
   * @throws HttpProblem 404 if it cannot be the id of a node
   */
  private static NodeId id(Request request) {
    String text = request.parameter("id");
    return NodeId.parse(text).orElseThrow(() -> HttpProblem.notFound("there is no node " + text));
  }

  /** The id in the path; 404 if it cannot be that of a node, or is out of reach of the caller. */
  static NodeId id(Request request, GraphRegistry graph) {
    NodeId id = id(request);
    if (!GraphReach.of(request, graph).includes(id)) {
      throw new UnknownNodeException(id);
    }
    note(request, List.of(id));
    return id;
  }

  /** Notes for the audit log which nodes a request is about. */
  static void note(Request request, List<NodeId> ids) {
    if (!ids.isEmpty()) {
      request.concerns(Area.GRAPH, ids.getFirst().toString());
      request.changed(ids.size(), ids.getFirst().toString(), ids.getLast().toString());
    }
  }

  /** The node in the path; 404 if it does not exist, or is out of reach of the caller. */
  static GraphNode node(Request request, GraphRegistry graph) {
    NodeId id = id(request);
    note(request, List.of(id));
    return GraphReach.of(request, graph).find(id).orElseThrow(() -> new UnknownNodeException(id));
  }

  /**
   * The nodes of the parameter {@code id}, a list with commas, each once.
   *
   * @throws HttpProblem 400 if it is absent or empty, 404 for an id that cannot be that of a node
   */
  static List<NodeId> ids(Request request, GraphRegistry graph) {
    GraphReach reach = GraphReach.of(request, graph);
    List<NodeId> ids = ids(request);
    for (NodeId id : ids) {
      if (!reach.includes(id)) {
        throw new UnknownNodeException(id);
      }
    }
    return ids;
  }

  private static List<NodeId> ids(Request request) {
    LinkedHashSet<NodeId> ids = new LinkedHashSet<>();
    for (String text : String.join(",", request.query().texts("id")).split(",", -1)) {
      if (!text.isBlank()) {
        ids.add(
            NodeId.parse(text.strip())
                .orElseThrow(() -> HttpProblem.notFound("there is no node " + text)));
      }
    }
    if (ids.isEmpty()) {
      throw HttpProblem.malformed("the parameter id must name nodes, as in id=1,2");
    }
    return new ArrayList<>(ids);
  }

  /**
   * The parameters {@code type}, {@code state} or {@code status}, {@code below} and {@code new};
   * the first two may hold several, with commas.
   *
   * @throws HttpProblem 400 if one is wrong
   */
  static NodeFilter filter(Query query) {
    Set<NodeState> states = new LinkedHashSet<>();
    words(query, "state").forEach(word -> states.add(state("state", word)));
    words(query, NodeShape.STATUS).forEach(word -> states.add(state(NodeShape.STATUS, word)));
    return new NodeFilter(words(query, "type"), states, below(query), newerThan(query));
  }

  private static Set<String> words(Query query, String name) {
    Set<String> words = new LinkedHashSet<>();
    for (String text : query.texts(name)) {
      words.addAll(List.of(text.split(",", -1)));
    }
    words.remove("");
    return words;
  }

  private static NodeState state(String name, String word) {
    return NodeState.of(word)
        .orElseThrow(() -> {
          String states =
              Arrays.stream(NodeState.values())
                  .map(NodeState::word)
                  .collect(Collectors.joining(", "));
          return HttpProblem.malformed(
              "the parameter " + name + " must be out of " + states + ", not " + word);
        });
  }

  private static @Nullable NodeId below(Query query) {
    String given = query.text("below").orElse("");
    return given.isEmpty() || given.equals(NodeShape.ROOT) ? null : id("below", given);
  }

  private static long newerThan(Query query) {
    Optional<String> given = query.text("new");
    return given.isEmpty() || given.get().equals("0") ? 0 : id("new", given.get()).value();
  }

  private static NodeId id(String name, String text) {
    return NodeId.parse(text)
        .orElseThrow(
            () -> HttpProblem.malformed("the parameter " + name + " must be an id, not " + text));
  }

  /** The header with a node's version; none if that is unknown. */
  static Map<String, String> tag(GraphNode node) {
    return node.version() == 0 ? Map.of() : tag(node.version());
  }

  static Map<String, String> tag(long version) {
    return Map.of("ETag", "\"" + version + "\"");
  }

  /**
   * The version that the client expects; null if it expects none.
   *
   * @throws HttpProblem 400 if the header is something else
   */
  static @Nullable Long expected(Request request) {
    String given = request.header("If-Match").map(String::strip).orElse("*");
    if (given.equals("*")) {
      return null;
    }
    boolean quoted = given.length() > 2 && given.startsWith("\"") && given.endsWith("\"");
    String digits = quoted ? given.substring(1, given.length() - 1) : given;
    if (digits.isEmpty()
        || digits.length() > MAX_DIGITS
        || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
      throw HttpProblem.malformed(
          "the header If-Match must be the version of the node or graph, as in \"17\", not "
              + given);
    }
    return Long.valueOf(digits);
  }

  /**
   * The parameters for pages.
   *
   * @param start the parameter {@code start}; null if it is absent
   * @param view the parameter {@code pid} or {@code pagid}; null if both are absent or empty
   */
  record Pages(@Nullable String start, @Nullable String view) {
    /**
     * Reads them.
     *
     * @throws HttpProblem 400 for a pid without a start
     */
    static Pages of(Query query) {
      String start = query.text("start").orElse(null);
      String view = query.text("pid").or(() -> query.text("pagid")).orElse("");
      if (start == null && !view.isEmpty()) {
        throw HttpProblem.malformed(
            "the parameter pid comes with start, the next of the page before");
      }
      return new Pages(start, view.isEmpty() ? null : view);
    }

    /**
     * Whether a page was requested, so that the response has the fields for pages even if there is
     * only one.
     */
    boolean asked() {
      return start != null;
    }

    /**
     * The page of a list; null for the first page of a new list, also if the start is empty.
     *
     * @throws HttpProblem 400 for a start without a pid
     */
    Page.@Nullable Wanted wanted() {
      if (start == null || start.isEmpty()) {
        return null;
      }
      if (view == null) {
        throw withoutView();
      }
      return new Page.Wanted(view, start);
    }

    /**
     * The number of a page of data: 0 if none is given.
     *
     * @throws HttpProblem 400 for anything but a number, and for a later page without a pid
     */
    int slot() {
      int slot = start == null || start.isEmpty() ? 0 : number(start);
      if (slot > 0 && view == null) {
        throw withoutView();
      }
      return slot;
    }

    private static int number(String text) {
      try {
        int slot = Integer.parseInt(text);
        if (slot >= 0) {
          return slot;
        }
      } catch (NumberFormatException _) {
        // Said below.
      }
      throw HttpProblem.malformed("the parameter start must be the next of a page, not " + text);
    }

    private static HttpProblem withoutView() {
      return HttpProblem.malformed("the parameter start comes with pid, that of the page before");
    }

    /**
     * Adds the fields for the next page.
     *
     * @param next null for the last page
     */
    static ObjectNode add(ObjectNode json, @Nullable String next, String view) {
      json.putObject("pagination").put("next", next).put("pid", view);
      return json;
    }
  }
}
