package io.millrace.graph.store;

import io.millrace.archive.ArchiveRow;
import io.millrace.archive.ArchiveSource;
import io.millrace.archive.ArchiveTable;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.Phase;
import io.millrace.graph.model.Change;
import io.millrace.graph.store.ReadModel.Listing;
import io.millrace.work.policy.Retention;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The graphs that have ended and leave the store. A graph is a set of nodes that are connected, by
 * {@code parents} or {@code after}, with each other and with no other node. It has ended when all
 * of them have settled, and leaves as a whole: in one batch of the archive and one commit. They are
 * found by going through all nodes in memory, if anything has changed.
 */
final class GraphRetention implements ArchiveSource {
  private static final Duration SCAN_PAUSE = Duration.ofSeconds(1);

  /** For so many nodes the pause is a millisecond longer: scans take a small part of one core. */
  private static final int NODES_A_MILLISECOND = 50;

  private final StoredGraph.Parts parts;
  private final Retention otherwise;
  private final Supplier<Set<NodeId>> needed;

  /** Graphs that were found to leave. */
  private final Deque<Leaving> queue = new ArrayDeque<>();

  /** The graphs that were given last, until they are removed. */
  private List<Leaving> given = List.of();

  private @Nullable Listing scanned;
  private Instant nextScan = Instant.MIN;

  /** When the next graph reaches its age, if nothing changes. */
  private Instant nextDue = Instant.MIN;

  /**
   * Finds graphs.
   *
   * @param otherwise how long and how many graphs stay of which no node says it
   * @param needed gives nodes whose graphs stay
   */
  GraphRetention(StoredGraph.Parts parts, Retention otherwise, Supplier<Set<NodeId>> needed) {
    this.parts = parts;
    this.otherwise = otherwise;
    this.needed = needed;
  }

  /**
   * A graph that leaves the store.
   *
   * @param nodes all of its nodes, in the order of their ids
   * @param endedMillis when the last of them ended
   */
  private record Leaving(List<GraphNode> nodes, long endedMillis) {
    NodeId first() {
      return nodes.getFirst().id();
    }
  }

  @Override
  public ArchiveTable table() {
    return ArchiveTable.GRAPHS;
  }

  @Override
  public Due due(Instant now, int most) {
    if (!given.isEmpty()) {
      // They were not removed: the archive has failed.
      given = List.of();
      queue.clear();
      nextDue = now;
    }
    if (queue.isEmpty() && !scan(now)) {
      return Due.of(List.of(), now.plus(SCAN_PAUSE));
    }
    List<Leaving> graphs = new ArrayList<>();
    List<Supplier<ArchiveRow>> rows = new ArrayList<>();
    for (Leaving next = queue.peek();
        next != null && (rows.isEmpty() || rows.size() + next.nodes().size() <= most);
        next = queue.peek()) {
      Leaving graph = queue.remove();
      graphs.add(graph);
      graph.nodes().forEach(node -> rows.add(() -> row(node, graph)));
    }
    given = graphs;
    return new Due(parts(rows, most), queue.isEmpty() ? nextScan : now);
  }

  /** These rows in parts, each made when it is read: a graph may have very many nodes. */
  private static Iterable<List<ArchiveRow>> parts(List<Supplier<ArchiveRow>> rows, int most) {
    return () ->
        IntStream.iterate(0, from -> from < rows.size(), from -> from + most)
            .mapToObj(from -> rows.subList(from, Math.min(rows.size(), from + most)))
            .map(part -> part.stream().map(Supplier::get).toList())
            .iterator();
  }

  /** Looks for graphs that leave, unless nothing can have changed; whether there are any. */
  private boolean scan(Instant now) {
    boolean unchanged =
        scanned != null
            && scanned.version() == parts.readModel().version()
            && now.isBefore(nextDue);
    if (unchanged || now.isBefore(nextScan)) {
      return false;
    }
    Listing listing = parts.readModel().listing(NodeFilter.ALL);
    scanned = listing;
    nextScan = now.plus(SCAN_PAUSE).plusMillis(listing.all().size() / NODES_A_MILLISECOND);
    nextDue = Instant.MAX;
    boolean keepsAll =
        otherwise.isForever()
            && listing.all().stream()
                .allMatch(node -> node.definition().timing().keep().isForever());
    if (!keepsAll) {
      queue.addAll(new Ended(listing.all()).due(now));
    }
    return !queue.isEmpty();
  }

  /** Which nodes are connected, and which of these graphs have ended. */
  private final class Ended {
    private final List<GraphNode> nodes;

    /** For each node another one of its graph, or itself: a forest of sets. */
    private final int[] links;

    Ended(List<GraphNode> nodes) {
      this.nodes = nodes;
      this.links = new int[nodes.size()];
      Map<NodeId, Integer> places = HashMap.newHashMap(nodes.size());
      for (int i = 0; i < links.length; i++) {
        links[i] = i;
        places.put(nodes.get(i).id(), i);
      }
      for (int i = 0; i < links.length; i++) {
        for (NodeId above : (Iterable<NodeId>) nodes.get(i).definition().above()::iterator) {
          Integer place = places.get(above);
          if (place != null) {
            links[graph(i)] = graph(place);
          }
        }
      }
    }

    private int graph(int node) {
      int at = node;
      while (links[at] != at) {
        links[at] = links[links[at]];
        at = links[at];
      }
      return at;
    }

    /** The graphs that leave now, those that ended first come first. */
    List<Leaving> due(Instant now) {
      boolean[] goesOn = new boolean[links.length];
      for (int i = 0; i < links.length; i++) {
        goesOn[graph(i)] |= !nodes.get(i).state().isSettled();
      }
      Map<Integer, List<GraphNode>> members = new HashMap<>();
      for (int i = 0; i < links.length; i++) {
        int graph = graph(i);
        if (!goesOn[graph]) {
          members.computeIfAbsent(graph, _ -> new ArrayList<>()).add(nodes.get(i));
        }
      }
      List<Leaving> ended = new ArrayList<>(members.size());
      for (List<GraphNode> graph : members.values()) {
        ended.add(
            new Leaving(
                graph, graph.stream().mapToLong(node -> endedMillis(node)).max().orElse(0)));
      }
      ended.sort(Comparator.comparingLong(Leaving::endedMillis).thenComparing(Leaving::first));
      List<Leaving> due = oldest(ended, now);
      if (!due.isEmpty()) {
        Set<NodeId> stay = needed.get();
        if (due.removeIf(
            graph -> graph.nodes().stream().anyMatch(node -> stay.contains(node.id())))) {
          nextDue = now;
        }
      }
      return due;
    }

    private List<Leaving> oldest(List<Leaving> ended, Instant now) {
      Set<Leaving> surplus = surplus(ended);
      List<Leaving> due = new ArrayList<>();
      for (Leaving graph : ended) {
        Duration own = ownAge(graph);
        Duration age = own == null ? otherwise.age() : own;
        Instant end =
            age == null ? Instant.MAX : Instant.ofEpochMilli(graph.endedMillis()).plus(age);
        if (!end.isAfter(now) || surplus.contains(graph)) {
          due.add(graph);
        } else if (end.isBefore(nextDue)) {
          nextDue = end;
        }
      }
      return due;
    }

    /**
     * The graphs that are more than stay. The count of the one that ended last is that of all which
     * have their counts by nodes of the same name.
     */
    private Set<Leaving> surplus(List<Leaving> ended) {
      Map<Optional<String>, Places> series = new HashMap<>();
      Set<Leaving> surplus = Collections.newSetFromMap(new IdentityHashMap<>());
      for (Leaving graph : ended.reversed()) {
        Optional<GraphNode> counting =
            graph.nodes().stream()
                .filter(node -> node.definition().timing().keep().count() != null)
                .findFirst();
        Long count =
            counting
                .map(node -> node.definition().timing().keep().count())
                .orElse(ownAge(graph) == null ? otherwise.count() : null);
        if (count != null
            && !series
                .computeIfAbsent(
                    counting.map(node -> Objects.requireNonNullElse(node.name(), "")),
                    _ -> new Places(count))
                .take()) {
          surplus.add(graph);
        }
      }
      return surplus;
    }

    /** How long a graph stays by what its nodes say: the longest counts; null if none says it. */
    private static @Nullable Duration ownAge(Leaving graph) {
      return graph.nodes().stream()
          .flatMap(node -> Stream.ofNullable(node.definition().timing().keep().age()))
          .max(Comparator.naturalOrder())
          .orElse(null);
    }
  }

  /** Places for graphs that stay. */
  private static final class Places {
    private long free;

    Places(long free) {
      this.free = free;
    }

    boolean take() {
      free--;
      return free >= 0;
    }
  }

  /** When it ended; 0 if it never started. */
  private static long endedMillis(GraphNode node) {
    return node.phase() instanceof Phase.Ended ended ? ended.endedMillis() : 0;
  }

  private ArchiveRow row(GraphNode plain, Leaving graph) {
    GraphNode node = Objects.requireNonNull(scanned).explained(List.of(plain)).getFirst();
    ObjectNode document = StoredNode.of(node, null).json();
    document.put("state", node.state().word());
    NodeData data = parts.values().archive(node.id(), parts.session().data(node.id()));
    document.set("data", data.json());
    ArrayNode parents = Json.object().putArray("parents");
    node.definition().parents().forEach(id -> parents.add(id.toString()));
    long ended = endedMillis(node);
    long started = node.phase() instanceof Phase.Ended phase ? phase.startedMillis() : 0;
    return ArchiveRow.of(ArchiveTable.GRAPHS, node.id().toString())
        .put("graph", graph.first().toString())
        .put("name", node.name())
        .put("type", node.definition().type())
        .put("state", node.state().word())
        .put("reason", node.reason().isEmpty() ? null : node.reason())
        .put("attempts", (long) node.phase().attempt())
        .put("created", node.createdMillis())
        .put("started", started == 0 ? null : started)
        .put(ArchiveTable.FINISHED, ended == 0 ? graph.endedMillis() : ended)
        .put("parents", Json.write(parents).utf8())
        .put("document", Json.write(document).utf8())
        .build();
  }

  @Override
  public Set<String> remove(List<String> ids) {
    List<Leaving> graphs = given;
    given = List.of();
    Set<String> kept = new HashSet<>();
    var _ =
        parts
            .commits()
            .run(model -> {
              kept.clear();
              for (Leaving graph : graphs) {
                List<Change> changes = removal(model, graph);
                model.take(changes);
                if (changes.isEmpty()) {
                  graph.nodes().forEach(node -> kept.add(node.id().toString()));
                }
              }
              return kept;
            });
    return kept;
  }

  /** The changes that remove a graph; none if it has changed. */
  private static List<Change> removal(WriteModel model, Leaving graph) {
    try {
      for (GraphNode node : graph.nodes()) {
        if (model.node(node.id()).version() != node.version()) {
          return List.of();
        }
      }
      return model.rules().retire(graph.nodes().stream().map(GraphNode::id).toList());
    } catch (UnknownNodeException | NodeStateException _) {
      return List.of();
    }
  }

  @Override
  public Set<String> present(Collection<String> ids) {
    Set<String> present = new HashSet<>();
    for (String id : ids) {
      if (NodeId.parse(id).flatMap(parts.readModel()::find).isPresent()) {
        present.add(id);
      }
    }
    return present;
  }
}
