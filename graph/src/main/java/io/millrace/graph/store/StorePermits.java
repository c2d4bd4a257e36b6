package io.millrace.graph.store;

import io.millrace.graph.GraphException;
import io.millrace.graph.GraphException.GraphFullException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphWork;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeLimits;
import io.millrace.graph.NodeState;
import io.millrace.graph.type.NodeType;
import io.millrace.graph.type.NodeTypes;
import io.millrace.store.Claim;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Throttling;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.When;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The permits of the nodes with limits: tasks of the store, with {@code ID ATTEMPT} as data, in a
 * group for each set of limits. The store decides which of them may be claimed, among the tasks of
 * queues and jobs under the same limits. Nodes with limits of each key are in two groups, one for
 * those that take places and one for the others, whose common prefix has the limits.
 *
 * <p>Permits follow from the graph, and are not committed with it: a permit is claimed before the
 * start of its attempt is recorded, and deleted after the end. In between it stays claimed, whoever
 * dies, so its lease is longer than any attempt. At the start of a server, after a failure and when
 * the graph was loaded again, all permits are compared with the graph.
 *
 * <p>{@link #allows}, {@link #find} and {@link #naming} are for any thread, the rest is for that of
 * the scheduler.
 */
final class StorePermits implements GraphWork.Permits {
  /** What the names of the groups begin with. */
  static final String PREFIX = "graph/permits/";

  private static final Logger LOG = LoggerFactory.getLogger(StorePermits.class);
  private static final Duration LEASE = Duration.ofDays(36_500);
  private static final Duration WAIT = Duration.ofSeconds(1);
  private static final long PAUSE_MILLIS = 1_000;

  /** The most changes of permits in a transaction, and permits of a claim. */
  private static final int BATCH = 500;

  /** The most groups of a claim. */
  private static final int MAX_GROUPS = 100;

  private final GraphSession session;
  private final ReadModel readModel;
  private final NodeTypes types;
  private final Map<NodeId, Permit> permits = new ConcurrentHashMap<>();

  /** How many permits there are of each group. */
  private final Map<PermitGroup, Integer> sizes = new HashMap<>();

  private final Pool places = new Pool();
  private final Pool others = new Pool();
  private boolean synced;
  private long pausedUntilMillis;

  StorePermits(GraphSession session, ReadModel readModel, NodeTypes types) {
    this.session = session;
    this.readModel = readModel;
    this.types = types;
  }

  /** The permits of the nodes that take places, or of the others. */
  private static final class Pool {
    /** How many permits of each group wait to be claimed. */
    final Map<PermitGroup, Integer> waiting = new HashMap<>();

    /** The nodes with claimed permits that have not started. */
    final Set<NodeId> held = new LinkedHashSet<>();

    /** The claim that waits; null for none. */
    @Nullable CompletableFuture<Outcome> open;

    /** The groups of that claim. */
    Set<PermitGroup> openGroups = Set.of();

    private int turn;

    /** The groups to claim from, another one first each time. */
    List<PermitGroup> inTurn(Set<PermitGroup> without) {
      List<PermitGroup> groups = new ArrayList<>(waiting.keySet());
      groups.removeAll(without);
      if (!groups.isEmpty()) {
        Collections.rotate(groups, turn++ % groups.size());
      }
      return groups.subList(0, Math.min(groups.size(), MAX_GROUPS));
    }
  }

  private Pool pool(boolean takingPlaces) {
    return takingPlaces ? places : others;
  }

  /** Whether a node has no limits, or a permit for its next attempt. */
  boolean allows(GraphNode node) {
    if (node.definition().limits().isNone()) {
      return true;
    }
    Permit there = permits.get(node.id());
    return there != null && there.claimed() && wanted(node).filter(there::suits).isPresent();
  }

  /** The permit of a node. */
  Optional<Permit> find(NodeId id) {
    return Optional.ofNullable(permits.get(id));
  }

  /** The permits under the limit of the key of this one. */
  List<Permit> sharingKey(Permit permit) {
    return permits.values().stream()
        .filter(other ->
            other.group().document().equals(permit.group().document())
                && other.key().equals(permit.key()))
        .toList();
  }

  /** The permits that name a limit. */
  List<Permit> naming(String limit) {
    return permits.values().stream()
        .filter(permit -> permit.group().limits().contains(limit))
        .toList();
  }

  /** The permit that a node needs for its next attempt; empty if its type is not known. */
  private Optional<Permit> wanted(GraphNode node) {
    NodeLimits limits = node.definition().limits();
    return types
        .find(node.definition().type())
        .map(NodeType::takesPlace)
        .map(takesPlace ->
            new Permit(
                node.id(),
                node.phase().attempt() + 1,
                new PermitGroup(takesPlace, limits.names(), limits.perKey()),
                Task.Lane.of(limits.key() == null ? "" : limits.key(), limits.priority()),
                0,
                false));
  }

  @Override
  public long update(long nowMillis) {
    if (nowMillis < pausedUntilMillis) {
      return pausedUntilMillis;
    }
    try {
      ReadModel.LimitedNodes nodes = readModel.limited(!synced, nowMillis);
      synced = false;
      if (nodes.all()) {
        compare(nodes);
      } else if (!nodes.nodes().isEmpty()) {
        change(nodes, List.of(), Set.of());
      }
      boolean ofPlaces = isCollected(places);
      boolean ofOthers = isCollected(others);
      synced = ofPlaces && ofOthers;
      return synced ? Long.MAX_VALUE : nowMillis;
    } catch (GraphFullException e) {
      LOG.warn("nodes with limits wait, since the store has no room for permits: {}", e.toString());
    } catch (RuntimeException e) {
      LOG.warn("the permits of nodes with limits are compared again: {}", e.toString());
    }
    synced = false;
    pausedUntilMillis = nowMillis + PAUSE_MILLIS;
    return pausedUntilMillis;
  }

  /** Compares all permits of the store with the graph. */
  private void compare(ReadModel.LimitedNodes nodes) {
    permits.clear();
    sizes.clear();
    for (Pool pool : List.of(places, others)) {
      pool.waiting.clear();
      pool.held.clear();
    }
    List<TaskRef> unknown = new ArrayList<>();
    Set<DocumentKey> empty = new HashSet<>();
    for (String collection : List.of(Throttling.GROUPS, Throttling.PREFIXES)) {
      for (Document document : session.pages(collection, PREFIX, "")) {
        boolean used = false;
        for (PermitGroup group : PermitGroup.read(document)) {
          boolean known = group.document().equals(document.key());
          String name = group.nameBelow(document.key());
          for (Task task : session.store().group(GroupQuery.all(name)).value()) {
            Permit permit = Permit.read(task, group);
            if (permit == null
                || !known
                || !isKept(permit, nodes)
                || permits.containsKey(permit.id())) {
              unknown.add(TaskRef.origin(task.origin()));
            } else {
              add(permit);
            }
          }
          used |= known && sizes.containsKey(group);
        }
        if (!used) {
          empty.add(document.key());
        }
      }
    }
    change(nodes, unknown, empty);
  }

  /** Whether there are permits under the document of a group. */
  private boolean isUsed(PermitGroup group) {
    PermitGroup sibling = group.sibling();
    return sizes.containsKey(group) || (sibling != null && sizes.containsKey(sibling));
  }

  /** Whether a permit is what the graph needs; that of a running node stays. */
  private boolean isKept(Permit permit, ReadModel.LimitedNodes nodes) {
    GraphNode node = nodes.nodes().get(permit.id());
    if (node == null) {
      return false;
    }
    return node.state() == NodeState.RUNNING
        ? permit.claimed() && node.phase().attempt() == permit.attempt()
        : nodes.due().contains(permit.id()) && wanted(node).filter(permit::suits).isPresent();
  }

  /**
   * Changes the permits of these nodes to those that they need.
   *
   * @param unknown other tasks to delete
   * @param empty the documents of groups that have no permits any more, if they get none
   */
  private void change(
      ReadModel.LimitedNodes nodes, Collection<TaskRef> unknown, Set<DocumentKey> empty) {
    List<Permit> left = new ArrayList<>();
    List<Permit> fresh = new ArrayList<>();
    nodes
        .nodes()
        .forEach((id, node) -> {
          Permit there = permits.get(id);
          boolean due = nodes.due().contains(id);
          boolean kept = there != null && isKept(there, nodes);
          if (there != null && !kept) {
            left.add(there);
          }
          if (!kept && due && node != null) {
            wanted(node).ifPresent(fresh::add);
          }
          places.held.remove(id);
          others.held.remove(id);
          if (there != null && there.claimed() && kept && due) {
            pool(there.group().takingPlaces()).held.add(id);
          }
        });
    List<TaskRef> deletes = new ArrayList<>(unknown);
    left.forEach(permit -> {
      deletes.add(permit.task());
      remove(permit);
    });
    Set<DocumentKey> done = new HashSet<>(empty);
    left.stream()
        .map(Permit::group)
        .filter(group -> !isUsed(group))
        .forEach(group -> done.add(group.document()));
    fresh.forEach(permit -> done.remove(permit.group().document()));
    write(deletes, done, fresh);
  }

  /** Deletes first, since there may be no room for what is added. */
  private void write(List<TaskRef> deletes, Set<DocumentKey> done, List<Permit> fresh) {
    for (List<TaskRef> part : parts(deletes)) {
      Transaction.Builder transaction = session.begin().override(true);
      part.forEach(transaction::delete);
      commit(transaction);
    }
    for (List<DocumentKey> part : parts(List.copyOf(done))) {
      Transaction.Builder transaction = session.begin();
      part.forEach(document -> transaction.delete(document, DocumentVersion.ANY));
      commit(transaction);
    }
    for (List<Permit> part : parts(fresh)) {
      Transaction.Builder transaction = session.begin();
      part.stream()
          .map(Permit::group)
          .filter(group -> !isUsed(group))
          .collect(
              Collectors.toMap(PermitGroup::document, PermitGroup::throttling, (one, _) -> one))
          .forEach(
              (document, limits) -> transaction.put(document, DocumentVersion.ANY, limits.body()));
      for (Permit permit : part) {
        transaction.add(
            new Transaction.Add(
                permit.group().name(), permit.data(), When.now(), false, null, permit.lane()));
      }
      List<Task> tasks = commit(transaction).tasks();
      for (int i = 0; i < part.size(); i++) {
        add(part.get(i).at(tasks.get(i).origin()));
      }
    }
  }

  private static <T> List<List<T>> parts(List<T> all) {
    List<List<T>> parts = new ArrayList<>();
    for (int i = 0; i < all.size(); i += BATCH) {
      parts.add(all.subList(i, Math.min(all.size(), i + BATCH)));
    }
    return parts;
  }

  private Outcome.Done commit(Transaction.Builder transaction) {
    return switch (session.commit(transaction.build())) {
      case Outcome.Done done -> done;
      case Outcome.Refused refused ->
          throw new GraphException(refused.reasons().getFirst().message());
    };
  }

  private void add(Permit permit) {
    permits.put(permit.id(), permit);
    sizes.merge(permit.group(), 1, Integer::sum);
    Pool pool = pool(permit.group().takingPlaces());
    if (!permit.claimed()) {
      pool.waiting.merge(permit.group(), 1, Integer::sum);
    }
  }

  private void remove(Permit permit) {
    permits.remove(permit.id());
    lower(sizes, permit.group());
    if (!permit.claimed()) {
      lower(pool(permit.group().takingPlaces()).waiting, permit.group());
    }
  }

  private static void lower(Map<PermitGroup, Integer> counts, PermitGroup group) {
    if (counts.merge(group, -1, Integer::sum) <= 0) {
      counts.remove(group);
    }
  }

  @Override
  public int waiting(boolean takingPlaces) {
    return !synced
        ? 0
        : pool(takingPlaces).waiting.values().stream().mapToInt(Integer::intValue).sum();
  }

  @Override
  public List<NodeId> claim(boolean takingPlaces, int room, int more) {
    Pool pool = pool(takingPlaces);
    if (!synced) {
      return List.of();
    }
    synced = false;
    if (pool.held.size() > room) {
      giveBack(new ArrayList<>(pool.held).subList(room, pool.held.size()));
    }
    int count = Math.min(BATCH, Math.min(more, room - pool.held.size()));
    // A claim that waits would have got a permit of its groups already.
    List<PermitGroup> groups = pool.inTurn(pool.open == null ? Set.of() : pool.openGroups);
    synced =
        count <= 0
            || groups.isEmpty()
            || isTaken(session.store().claim(claimOf(groups).withCount(count)), pool);
    return List.copyOf(pool.held);
  }

  private Claim claimOf(List<PermitGroup> groups) {
    List<String> names = groups.stream().map(PermitGroup::name).toList();
    return Claim.of(session.self(), names.getFirst(), LEASE)
        .withGroups(names)
        .withOrder(Claim.Order.OLDEST);
  }

  private void giveBack(List<NodeId> ids) {
    Transaction.Builder transaction = session.begin().override(true);
    List<Permit> given = ids.stream().map(id -> Objects.requireNonNull(permits.get(id))).toList();
    given.forEach(permit -> transaction.release(permit.task()));
    commit(transaction);
    given.forEach(permit -> {
      remove(permit);
      add(permit.claimed(false));
      pool(permit.group().takingPlaces()).held.remove(permit.id());
    });
  }

  /** Notes the permits that a claim has taken; false if there are others than expected. */
  private boolean isTaken(Outcome outcome, Pool pool) {
    boolean known = true;
    for (Task task : outcome.done().tasks()) {
      NodeId id = Permit.node(task);
      Permit there = id == null ? null : permits.get(id);
      if (there == null || there.origin() != task.origin()) {
        // It was deleted since, or something else has put it there, which a comparison finds.
        known = false;
      } else if (!there.claimed()) {
        remove(there);
        add(there.claimed(true));
        pool.held.add(there.id());
      }
    }
    return known;
  }

  @Override
  public void await(boolean takingPlaces) {
    Pool pool = pool(takingPlaces);
    if (!synced || pool.open != null || pool.waiting.isEmpty()) {
      return;
    }
    List<PermitGroup> groups = pool.inTurn(Set.of());
    CompletableFuture<Outcome> open = session.store().submit(claimOf(groups).withWait(WAIT));
    pool.open = open;
    pool.openGroups = Set.copyOf(groups);
    var _ = open.whenComplete((_, _) -> readModel.wake());
  }

  /** Takes note of the answer to a claim that has waited, if there is one. */
  private boolean isCollected(Pool pool) {
    CompletableFuture<Outcome> open = pool.open;
    if (open == null || !open.isDone()) {
      return true;
    }
    pool.open = null;
    try {
      return isTaken(open.join(), pool);
    } catch (CompletionException e) {
      // It may have taken a permit.
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }
}
