package io.millrace.client.graphs;

import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import io.millrace.store.environment.DurationText;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The graph of a server: adds nodes, waits for them, shows and changes them. Thread-safe; to be
 * closed.
 *
 * <p>Every method throws a {@link io.millrace.store.StoreException}: {@link
 * io.millrace.client.RejectedException} if the server rejects the call, {@link
 * io.millrace.client.UnreachableException} if it cannot be reached and nothing changed, and {@link
 * io.millrace.store.OutcomeUnknownException} if the response to a change was lost. Add with {@link
 * GraphOrder#withRequestId} to be able to repeat an addition whose outcome is unknown.
 */
public final class GraphClient implements AutoCloseable {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final String NODES = "/v1/nodes";
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(20);

  /** How many nodes one request is about. */
  private static final int BATCH = 500;

  private final JsonCalls calls;

  private GraphClient(ClientOptions server) {
    calls = JsonCalls.open(server);
  }

  /** A client of the server that the options name. Connects on first use. */
  public static GraphClient open(ClientOptions server) {
    return new GraphClient(server);
  }

  /** The state of a node; docs/graph.md explains them. */
  public enum State {
    /** Something above it has not ended. */
    INCIPIENT,
    /** It may start. */
    READY,
    /** It has started. */
    RUNNING,
    /** It has succeeded. */
    FINISHED,
    /** It has not succeeded. */
    FAILED,
    /** It was killed. */
    KILLED,
    /** It is on a branch that was not chosen. */
    SKIPPED,
    /** Something above it has not succeeded. */
    BLOCKED;

    private static State of(JsonNode word) {
      return valueOf(word.asString().toUpperCase(Locale.ROOT));
    }

    private String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Whether the node has ended, or waits for a retry of another one. */
    public boolean isSettled() {
      return this != INCIPIENT && this != READY && this != RUNNING;
    }
  }

  /**
   * A node.
   *
   * @param id its id
   * @param name its name; null for none
   * @param type its type, for example {@code command}
   * @param state its state
   * @param reason why it has this state; null if nothing has to be said
   * @param attempt how often it was started
   * @param all all its metadata, by the names of docs/api.md
   */
  public record Node(
      String id,
      @Nullable String name,
      String type,
      State state,
      @Nullable String reason,
      int attempt,
      JsonNode all) {
    private static Node of(JsonNode json) {
      return new Node(
          json.path("id").asString(),
          json.path("name").asString(null),
          json.path("type").asString(),
          State.of(json.path("state")),
          json.path("reason").asString(null),
          json.path("attempt").asInt(),
          json);
    }
  }

  /**
   * How nodes are added. Immutable.
   *
   * @param parameters the parameters of {@code POST /v1/nodes} by name
   */
  public record GraphOrder(Map<String, String> parameters) {
    /** At once, and each time. */
    public static final GraphOrder DEFAULT = new GraphOrder(Map.of());

    /** Copies the parameters. */
    public GraphOrder {
      parameters = Map.copyOf(parameters);
    }

    /** The same with a parameter, for example {@code unique_period}. */
    public GraphOrder with(String parameter, String value) {
      Map<String, String> all = new HashMap<>(parameters);
      all.put(parameter, value);
      return new GraphOrder(all);
    }

    /** The same; nothing starts before this time has passed. */
    public GraphOrder withDelay(Duration delay) {
      return with("delay", delay.toMillis() + "ms");
    }

    /** The same; nothing starts before this moment. */
    public GraphOrder withStart(Instant start) {
      return with("at", start.toString());
    }

    /** The same with a key: while nodes that hold it have not ended, nothing else is added. */
    public GraphOrder withUnique(String key) {
      return with("unique", key);
    }

    /**
     * The same with a request id, drawn at random: if the addition is repeated with it within seven
     * days, nothing is added again.
     */
    public GraphOrder withRequestId(String id) {
      return with("requestid", id);
    }
  }

  /**
   * What was added.
   *
   * @param ids the ids of the nodes, in order
   * @param duplicate whether they were there already, with the same unique key or request id
   */
  public record AddedGraph(List<String> ids, boolean duplicate) {}

  private static String path(String id) {
    return NODES + "/" + JsonCalls.part(id);
  }

  private static String query(String path, Map<String, String> parameters) {
    String query =
        new TreeMap<>(parameters)
            .entrySet().stream()
                .map(each -> each.getKey() + "=" + JsonCalls.part(each.getValue()))
                .collect(Collectors.joining("&"));
    return query.isEmpty() ? path : path + "?" + query;
  }

  /** Adds a graph, all of it or nothing. It is stored when this returns, and runs by itself. */
  public AddedGraph add(NewGraph graph, GraphOrder order) {
    return add(graph.json(), order);
  }

  /**
   * Adds nodes, all or none.
   *
   * @param nodes an array, in the form of {@code POST /v1/nodes}
   */
  public AddedGraph add(JsonNode nodes, GraphOrder order) {
    JsonNode added = calls.post(query(NODES, order.parameters()), nodes);
    return new AddedGraph(
        added.valueStream().map(node -> node.path("id").asString()).toList(),
        added.path(0).path("duplicate").asBoolean(false));
  }

  /**
   * Adds a graph and waits until it has settled.
   *
   * @return the states of its nodes by their ids, in order
   * @throws TimeoutException if it has not settled in time; it goes on
   */
  public SequencedMap<String, State> run(NewGraph graph, GraphOrder order, Duration timeout)
      throws InterruptedException, TimeoutException {
    return await(add(graph, order).ids(), timeout);
  }

  /**
   * Waits until all nodes have ended or are blocked.
   *
   * @return their states by their ids, in the order given
   * @throws TimeoutException if they have not settled in time; they go on
   */
  public SequencedMap<String, State> await(Collection<String> ids, Duration timeout)
      throws InterruptedException, TimeoutException {
    long endNanos = System.nanoTime() + timeout.toNanos();
    SequencedMap<String, State> states = new LinkedHashMap<>();
    List<String> all = List.copyOf(new LinkedHashSet<>(ids));
    for (int from = 0; from < all.size(); from += BATCH) {
      List<String> part = all.subList(from, Math.min(all.size(), from + BATCH));
      Map<String, State> settled = awaitPart(part, endNanos, timeout);
      part.forEach(id -> states.put(id, settled.getOrDefault(id, State.INCIPIENT)));
    }
    return states;
  }

  private Map<String, State> awaitPart(List<String> ids, long endNanos, Duration timeout)
      throws InterruptedException, TimeoutException {
    while (true) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      Duration wait =
          Duration.ofNanos(Math.clamp(endNanos - System.nanoTime(), 0, LONGEST_WAIT.toNanos()));
      Map<String, String> parameters =
          Map.of(
              "id",
              String.join(",", ids),
              "until",
              "settled",
              "timeout",
              String.format(Locale.ROOT, "%.3f", wait.toMillis() / 1e3));
      Map<String, State> states = states(calls.get(query("/v1/scheduler/wait", parameters)));
      if (states.values().stream().allMatch(State::isSettled)) {
        return states;
      }
      if (wait.isZero()) {
        throw new TimeoutException(
            "nodes have not settled in " + DurationText.show(timeout) + ": " + states);
      }
    }
  }

  private static Map<String, State> states(JsonNode json) {
    Map<String, State> states = new LinkedHashMap<>();
    json.properties().forEach(each -> states.put(each.getKey(), State.of(each.getValue())));
    return states;
  }

  /** A node. */
  public Node find(String id) {
    return Node.of(calls.read(path(id)));
  }

  /**
   * Some nodes, in the order of their ids.
   *
   * @param nodes the nodes
   * @param next the page after this one; null for the last page
   */
  public record NodePage(List<Node> nodes, @Nullable Next next) {
    /**
     * A place in a list that does not change while its pages are read.
     *
     * @param list the list
     * @param start the place
     */
    public record Next(String list, String start) {}
  }

  /**
   * The first nodes below a node in some states.
   *
   * @param below the id of a node, which counts too; null for all nodes
   * @param states empty for all states
   */
  public NodePage list(@Nullable String below, Collection<State> states) {
    Map<String, String> parameters = new HashMap<>(Map.of("start", ""));
    if (below != null) {
      parameters.put("below", below);
    }
    if (!states.isEmpty()) {
      parameters.put(
          "state", states.stream().map(State::word).distinct().collect(Collectors.joining(",")));
    }
    return page(parameters);
  }

  /** The next nodes of a list. */
  public NodePage list(NodePage.Next page) {
    return page(Map.of("start", page.start(), "pid", page.list()));
  }

  private NodePage page(Map<String, String> parameters) {
    JsonNode page = calls.read(query(NODES, parameters));
    JsonNode next = page.path("pagination").path("next");
    return new NodePage(
        page.path("nodes").valueStream().map(Node::of).toList(),
        next.isString()
            ? new NodePage.Next(page.path("pagination").path("pid").asString(), next.asString())
            : null);
  }

  /**
   * A value of the data of a node. A text has all its pages; of one that a running command writes,
   * what is there so far.
   */
  public JsonNode data(String id, String key) {
    String path = path(id) + "/data/" + JsonCalls.part(key);
    JsonNode page = calls.read(path);
    JsonNode value = page.path("data");
    if (!value.isString()) {
      return value;
    }
    StringBuilder text = new StringBuilder(value.asString());
    for (JsonNode next = page.path("pagination").path("next");
        next.isString() && !page.path("growing").asBoolean(false);
        next = page.path("pagination").path("next")) {
      String list = page.path("pagination").path("pid").asString();
      page = calls.read(query(path, Map.of("start", next.asString(), "pid", list)));
      text.append(page.path("data").asString());
    }
    return JSON.getNodeFactory().stringNode(text.toString());
  }

  /** What a command has written to its standard output so far. */
  public String output(String id) {
    return data(id, "stdout").asString("");
  }

  /** Sets a value of the data of a node; null unsets it. */
  public void put(String id, String key, @Nullable Object value) {
    ObjectNode body = JSON.createObjectNode();
    body.set("value", JSON.valueToTree(value));
    var _ = calls.put(path(id) + "/data/" + JsonCalls.part(key), body);
  }

  /** Offers a failed or killed node again. Returns it. */
  public Node retry(String id) {
    return Node.of(calls.post(path(id) + "/retry", JSON.createObjectNode()));
  }

  /**
   * Starts to kill nodes: waiting ones end at once, running ones get TERM, and KILL five seconds
   * later. Nodes that have ended stay as they are.
   *
   * @return their states by their ids
   */
  public Map<String, State> kill(Collection<String> ids) {
    Map<String, State> states = new LinkedHashMap<>();
    List<String> all = List.copyOf(ids);
    for (int from = 0; from < all.size(); from += BATCH) {
      String part = String.join(",", all.subList(from, Math.min(all.size(), from + BATCH)));
      JsonNode none = JSON.createObjectNode();
      states.putAll(states(calls.put(query("/v1/scheduler/kill", Map.of("id", part)), none)));
    }
    return states;
  }

  /**
   * Removes nodes that do not run, with their data.
   *
   * @param below whether all nodes below it are removed too; otherwise there must be none
   * @return how many
   */
  public int remove(String id, boolean below) {
    return calls.delete(path(id) + (below ? "?below=true" : "")).path("removed").asInt();
  }

  @Override
  public void close() {
    calls.close();
  }
}
