package io.millrace.graph.schedule;

import io.millrace.blobs.Tail;
import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphWork;
import io.millrace.graph.Kill;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeLimits;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import io.millrace.graph.Timing;
import io.millrace.graph.model.Change;
import io.millrace.graph.model.Graph;
import io.millrace.graph.model.Rules;
import io.millrace.graph.type.RunPolicy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

/** A graph in memory, with the data of its nodes. */
final class MemoryGraph implements GraphWork {
  private final Graph graph = new Graph();
  private final Rules rules = new Rules(graph);
  private final LongSupplier nowMillis;
  private final Function<String, Kind> kinds;
  private final Map<NodeId, Map<String, JsonNode>> data = new HashMap<>();
  private final Map<NodeId, Kill> kills = new TreeMap<>();
  private final Map<NodeId, CompletableFuture<NodeState>> ends = new ConcurrentHashMap<>();
  private final List<Runnable> wakes = new ArrayList<>();
  private @Nullable Outputs outputs;
  final MemoryPermits permits = new MemoryPermits();
  private long nextId = 1;
  private long askedMillis;

  /** How many of the next calls fail, once what they ask for is done. */
  int lostAnswers;

  /** How many of the next calls fail before anything is done. */
  int refusals;

  /** The node whose end cannot be stored, whatever is tried; null for none. */
  @Nullable NodeId unstorable;

  /** Looks at a node whose start comes on record next. */
  Consumer<GraphNode> beforeStart = _ -> {};

  MemoryGraph(LongSupplier nowMillis, Function<String, Kind> kinds) {
    this.nowMillis = nowMillis;
    this.kinds = kinds;
  }

  private record FromData(Function<String, Kind> kinds) implements Rules.Settings {
    @Override
    public Kind kind(String type) {
      return kinds.apply(type);
    }

    @Override
    public Timing timing(NewNode node) {
      return RunPolicy.timing(node.data());
    }

    @Override
    public NodeLimits limits(NewNode node) {
      return RunPolicy.limits(node.data());
    }
  }

  synchronized NodeId add(NewNode node) {
    Change.Added added = rules.add(List.of(node), new FromData(kinds), nextId, now()).getFirst();
    nextId++;
    data.put(added.id(), new HashMap<>(node.data()));
    take(List.of(added));
    return added.id();
  }

  synchronized void kill(NodeId id, Kill kill) {
    take(rules.kill(List.of(id), now()));
    for (GraphNode node : nodes()) {
      if (node.phase() instanceof Phase.Running running
          && running.killing()
          && node.definition().kind() != Kind.GROUP
          && (node.id().equals(id) || !kills.containsKey(node.id()))) {
        kills.put(node.id(), kill);
      }
    }
    wake();
  }

  synchronized void retry(NodeId id) {
    take(rules.retry(id));
  }

  synchronized GraphNode node(NodeId id) {
    return graph.node(id).orElseThrow();
  }

  NodeState state(NodeId id) {
    return node(id).state();
  }

  synchronized String reason(NodeId id) {
    return node(id).phase() instanceof Phase.Ended ended ? ended.reason() : "";
  }

  synchronized List<GraphNode> nodes() {
    return graph.nodesAfter(0);
  }

  synchronized JsonNode value(NodeId id, String key) {
    return Objects.requireNonNull(
        Objects.requireNonNull(data.get(id)).get(key), () -> key + " is unset");
  }

  /** What a running node has written so far. */
  String growing(NodeId id, String key) {
    Tail tail = Objects.requireNonNull(outputs).of(id, key);
    return tail == null ? "" : text(tail);
  }

  /** Whether it is known what a running node has written so far. */
  boolean knowsOutput(NodeId id) {
    try {
      return Objects.requireNonNull(outputs).isKnown(id, Duration.ZERO);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** When the node has come to an end. */
  synchronized CompletableFuture<NodeState> onEnd(NodeId id) {
    NodeState state = state(id);
    return state.isTerminal()
        ? CompletableFuture.completedFuture(state)
        : ends.computeIfAbsent(id, _ -> new CompletableFuture<>());
  }

  /** As after a restart, when nobody listens yet. */
  synchronized void forgetListeners() {
    wakes.clear();
    outputs = null;
  }

  @Override
  public synchronized List<GraphNode> ready(String type, int most, long atMillis) {
    askedMillis = atMillis;
    return waiting()
        .filter(node -> node.definition().type().equals(type))
        .filter(node -> node.definition().limits().isNone())
        .filter(node -> notBefore(node) <= atMillis)
        .limit(most)
        .toList();
  }

  @Override
  public Map<NodeId, Long> readySince(List<NodeId> ids) {
    return Map.of();
  }

  @Override
  public synchronized OptionalLong nextDueMillis() {
    return waiting()
        .flatMapToLong(node -> LongStream.of(notBefore(node), expiry(node)))
        .filter(at -> at > askedMillis && at != Long.MAX_VALUE)
        .min();
  }

  @Override
  public synchronized void expire(long atMillis) {
    List<GraphNode> expired = waiting().filter(node -> expiry(node) <= atMillis).toList();
    if (!expired.isEmpty()) {
      refuse();
      expired.forEach(node -> take(rules.expire(node.id(), now())));
      answer();
    }
  }

  private static long expiry(GraphNode node) {
    return node.phase() instanceof Phase.Waiting waiting
        ? node.definition().timing().expiryMillis(waiting)
        : Long.MAX_VALUE;
  }

  private Stream<GraphNode> waiting() {
    return nodes().stream()
        .filter(node -> node.state() == NodeState.READY && node.definition().kind() != Kind.GROUP);
  }

  private static long notBefore(GraphNode node) {
    return node.phase() instanceof Phase.Waiting waiting ? waiting.notBeforeMillis() : 0;
  }

  @Override
  public synchronized List<Item> running() {
    answer();
    return nodes().stream()
        .filter(
            node -> node.phase() instanceof Phase.Running && node.definition().kind() != Kind.GROUP)
        .map(this::item)
        .toList();
  }

  private Item item(GraphNode node) {
    return new Item(node, Map.copyOf(Objects.requireNonNull(data.get(node.id()))));
  }

  @Override
  public synchronized Map<NodeId, Kill> killing() {
    return Map.copyOf(kills);
  }

  @Override
  public synchronized List<Item> start(List<NodeId> ids) {
    refuse();
    List<Item> started = new ArrayList<>();
    for (NodeId id : ids) {
      if (node(id).state() == NodeState.READY && permits.allow(node(id))) {
        beforeStart.accept(node(id));
        take(rules.start(id, now()));
        started.add(item(node(id)));
      }
    }
    answer();
    return started;
  }

  @Override
  public Permits permits() {
    return permits;
  }

  /**
   * Permits under limits in memory; those of attempts that have ended are there until an update.
   */
  final class MemoryPermits implements Permits {
    /** How many nodes each limit lets run. */
    final Map<String, Integer> limits = new HashMap<>();

    /** The attempts with permits, with the limits against which they count. */
    private final Map<NodeId, Map.Entry<Integer, List<String>>> claimed = new LinkedHashMap<>();

    private boolean allow(GraphNode node) {
      Map.Entry<Integer, List<String>> permit = claimed.get(node.id());
      return node.definition().limits().isNone()
          || (permit != null && permit.getKey() == node.phase().attempt() + 1);
    }

    /** How many permits count against a limit. */
    long used(String limit) {
      return claimed.values().stream().filter(it -> it.getValue().contains(limit)).count();
    }

    private Stream<GraphNode> due(boolean takingPlaces) {
      return MemoryGraph.this
          .waiting()
          .filter(node -> !node.definition().limits().isNone())
          .filter(node -> node.definition().type().equals("quiet") != takingPlaces)
          .filter(node -> notBefore(node) <= now());
    }

    @Override
    public long update(long atMillis) {
      synchronized (MemoryGraph.this) {
        askedMillis = atMillis;
        claimed
            .entrySet()
            .removeIf(permit -> {
              GraphNode node = node(permit.getKey());
              int attempt = permit.getValue().getKey();
              boolean runs = node.state() == NodeState.RUNNING && node.phase().attempt() == attempt;
              return !runs && !(node.state() == NodeState.READY && allow(node));
            });
        return Long.MAX_VALUE;
      }
    }

    @Override
    public int waiting(boolean takingPlaces) {
      synchronized (MemoryGraph.this) {
        return (int) due(takingPlaces).filter(node -> !allow(node)).count();
      }
    }

    @Override
    public List<NodeId> claim(boolean takingPlaces, int room, int more) {
      synchronized (MemoryGraph.this) {
        if (due(takingPlaces).findAny().isEmpty()) {
          return List.of();
        }
        refuse();
        List<NodeId> held = new ArrayList<>();
        int left = more;
        for (GraphNode node : due(takingPlaces).toList()) {
          if (!allow(node) && left > 0 && held.size() < room && isFree(node)) {
            List<String> names = node.definition().limits().names();
            claimed.put(node.id(), Map.entry(node.phase().attempt() + 1, names));
            left--;
          }
          if (allow(node) && held.size() < room) {
            held.add(node.id());
          } else if (allow(node)) {
            claimed.remove(node.id());
          }
        }
        answer();
        return held;
      }
    }

    private boolean isFree(GraphNode node) {
      return node.definition().limits().names().stream()
          .allMatch(name -> used(name) < limits.getOrDefault(name, Integer.MAX_VALUE));
    }

    @Override
    public void await(boolean takingPlaces) {}
  }

  @Override
  public synchronized void end(List<Ended> ended) {
    refuse();
    if (ended.stream().anyMatch(end -> end.id().equals(unstorable))) {
      throw new IllegalStateException("its output cannot be read");
    }
    for (Ended end : ended) {
      try {
        take(rules.end(end.id(), end.attempt(), end.outcome(), null, now()));
      } catch (NodeStateException e) {
        continue;
      }
      kills.remove(end.id());
      Map<String, JsonNode> values = Objects.requireNonNull(data.get(end.id()));
      values.putAll(end.values());
      end.recordings().forEach((key, tail) -> values.put(key, StringNode.valueOf(text(tail))));
    }
    answer();
  }

  private static String text(Tail tail) {
    return new String(tail.read(0, Math.max(1, (int) tail.size())), StandardCharsets.UTF_8);
  }

  private void refuse() {
    if (refusals > 0) {
      refusals--;
      throw new IllegalStateException("the store is away");
    }
  }

  private void answer() {
    if (lostAnswers > 0) {
      lostAnswers--;
      throw new IllegalStateException("the answer is lost");
    }
  }

  private long now() {
    return nowMillis.getAsLong();
  }

  private void take(List<? extends Change> changes) {
    List<GraphNode> touched = new ArrayList<>(graph.apply(changes));
    for (List<Change> more = graph.consequences(now());
        !more.isEmpty();
        more = graph.consequences(now())) {
      touched.addAll(graph.apply(more));
    }
    for (GraphNode node : touched) {
      CompletableFuture<NodeState> end = ends.get(node.id());
      if (end != null && node.state().isTerminal()) {
        end.complete(node.state());
      }
    }
    wake();
  }

  private void wake() {
    wakes.forEach(Runnable::run);
  }

  @Override
  public synchronized void readOutputsFrom(Outputs source) {
    outputs = source;
  }

  @Override
  public synchronized void onChange(Runnable wake) {
    wakes.add(wake);
  }
}
