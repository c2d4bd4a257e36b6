package io.millrace.graph.store;

import io.millrace.archive.Archive;
import io.millrace.archive.ArchiveException;
import io.millrace.archive.ArchiveRow;
import io.millrace.archive.ArchiveSource;
import io.millrace.archive.ArchiveTable;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.UnownedBlobs;
import io.millrace.graph.GraphException;
import io.millrace.graph.GraphException.GraphFullException;
import io.millrace.graph.GraphException.UnknownKeyException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphRegistry.DataPage;
import io.millrace.graph.GraphWork;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeLimits;
import io.millrace.graph.store.GraphSession.TransactionLimits;
import io.millrace.graph.store.NodeData.StoredValue;
import io.millrace.graph.store.ValueStore.RandomNames;
import io.millrace.graph.type.Attempt;
import io.millrace.graph.type.AttemptContext;
import io.millrace.graph.type.NodeType;
import io.millrace.graph.type.NodeTypes;
import io.millrace.store.Document;
import io.millrace.store.StoreException;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.work.Explanation.Reason;
import io.millrace.work.Step;
import io.millrace.work.bulk.BulkTarget;
import io.millrace.work.policy.LimitReasons;
import io.millrace.work.policy.LimitReasons.Holders;
import io.millrace.work.policy.LimitReasons.Running;
import io.millrace.work.policy.LimitReasons.Sharing;
import io.millrace.work.policy.Retention;
import io.millrace.work.policy.SharedLimits.Usage;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/**
 * The graph of a store: the entry of this module. Safe for use by any number of threads. A store
 * should have only one: if there are several, each has to load the graph again after every change
 * of another.
 */
public final class StoredGraph {
  private static final Logger LOG = LoggerFactory.getLogger(StoredGraph.class);

  private final Parts parts;
  private final GraphRegistry registry;
  private final StorePermits permits;
  private final GraphWork work;

  /** What reads and writes. */
  record Parts(
      GraphSession session,
      GraphCommits commits,
      ReadModel readModel,
      ValueStore values,
      DataRules rules) {}

  private StoredGraph(Parts parts, DataReader reader) {
    this.parts = parts;
    this.registry = new StoreGraphRegistry(parts, reader);
    this.permits = new StorePermits(parts.session(), parts.readModel(), parts.rules().types());
    this.work = new StoreGraphWork(parts, reader, permits);
  }

  /**
   * Opens the graph of {@code store}; if there is none yet, an empty one. Reads all of its nodes.
   *
   * @param blobs for data that is too large for a commit
   * @param types the types that nodes may have; stored nodes of other types stay
   * @param clock for the times of nodes, and the age of blobs and lists
   * @param random draws the secret and unique names, so it should be hard to guess; used under a
   *     lock by the graph, and by nothing else meanwhile
   * @throws GraphException if what is stored is damaged
   * @throws GraphFullException if the store has no room for a new graph
   * @throws StoreException if the store does not answer
   */
  public static StoredGraph open(
      TaskStore store,
      BlobStore blobs,
      NodeTypes types,
      InstantSource clock,
      RandomGenerator random) {
    return open(store, blobs, types, clock, random, TransactionLimits.DEFAULT);
  }

  static StoredGraph open(
      TaskStore store,
      BlobStore blobs,
      NodeTypes types,
      InstantSource clock,
      RandomGenerator random,
      TransactionLimits limits) {
    RandomNames names = new RandomNames(random);
    GraphSession session = new GraphSession(store, names, limits);
    ReadModel readModel = new ReadModel();
    ValueStore values = new ValueStore(blobs, names);
    GraphCommits commits = new GraphCommits(session, clock, readModel, limits, values::discard);
    Parts parts = new Parts(session, commits, readModel, values, new DataRules(types));
    return new StoredGraph(parts, new DataReader(parts, clock, names));
  }

  /**
   * The graph of a store that is only read, such as that of a standby. It is read when it is asked
   * for, and can be asked for nodes, lists and data. What only the leader can answer throws {@link
   * io.millrace.store.StandbyStore.LeaderNeededException}: the later pages of lists, and the output
   * of running nodes. Its nodes have the version 0, since versions are not stored.
   *
   * @param outputs the keys of data that the nodes of a type write, by its name
   */
  public static GraphRegistry reading(
      TaskStore store,
      BlobStore blobs,
      Map<String, Set<String>> outputs,
      InstantSource clock,
      RandomGenerator random) {
    RandomNames names = new RandomNames(random);
    return new StandbyGraph(
        new GraphSession(store, names, TransactionLimits.DEFAULT),
        new ValueStore(blobs, names),
        new NodeTypes(
            outputs.entrySet().stream()
                .<NodeType>map(type -> new WritingType(type.getKey(), type.getValue()))
                .toList()),
        clock,
        names);
  }

  /** What a reader must know of a type. */
  private record WritingType(String name, Set<String> outputs) implements NodeType {
    @Override
    public Attempt start(AttemptContext work) {
      throw new UnsupportedOperationException("a graph that is only read starts nothing");
    }
  }

  /** The graph as its users see it. */
  public GraphRegistry registry() {
    return registry;
  }

  /** Adds nodes together with something else. */
  public GraphRuns runs() {
    return new GraphRuns(parts);
  }

  /** The graph as its scheduler sees it. */
  public GraphWork work() {
    return work;
  }

  /**
   * The limits that keep a node waiting which is due.
   *
   * @param visible whether the caller may see a node; others are counted, not named
   * @param sharing finds what uses up a shared limit
   */
  public List<Reason> limitReasons(GraphNode node, Predicate<NodeId> visible, Sharing sharing) {
    NodeLimits limits = node.definition().limits();
    Optional<Permit> permit = permits.find(node.id());
    if (limits.isNone() || permit.filter(Permit::claimed).isPresent()) {
      return List.of();
    }
    GraphSession session = parts.session();
    Supplier<Running> sameKey =
        () -> permit.map(own -> running(permits.sharingKey(own), visible)).orElse(Running.NONE);
    return new LimitReasons(session.store(), session.self(), "node", "the nodes with these limits")
        .of(
            new PermitGroup(true, limits.names(), limits.perKey()).throttling(),
            limits.key() == null ? "" : limits.key(),
            permit.map(Permit::task).orElse(null),
            new Holders(() -> Running.NONE, sameKey, sharing));
  }

  /**
   * The nodes that count against a shared limit: those that run, and those that start next.
   *
   * @param visible whether the caller may see a node; others are counted, not named
   */
  public Running sharing(Usage usage, Predicate<NodeId> visible) {
    return running(permits.naming(usage.name()), visible);
  }

  private static Running running(List<Permit> permits, Predicate<NodeId> visible) {
    List<NodeId> ids = permits.stream().filter(Permit::claimed).map(Permit::id).sorted().toList();
    return new Running(ids.stream().filter(visible).map(NodeId::toString).toList(), ids.size());
  }

  /** How many nodes run under a shared limit, or are due and wait for it. */
  public long limited(String limit) {
    return permits.naming(limit).size();
  }

  /**
   * Deletes the blobs that are not referred to, an hour after they were written, and once an hour
   * the unique keys that nothing holds.
   */
  public Step sweeper(Archive archive) {
    return new GraphSweeper(parts, archive);
  }

  /**
   * The graphs that have ended and leave the store. There should be one for a store.
   *
   * @param otherwise how long graphs stay of which no node has {@code keep_finished}
   * @param needed gives nodes whose graphs stay
   */
  public ArchiveSource retention(Retention otherwise, Supplier<Set<NodeId>> needed) {
    return new GraphRetention(parts, otherwise, needed);
  }

  /** The nodes, for bulk actions. */
  public BulkTarget<?> bulk() {
    return new BulkNodes(parts);
  }

  /**
   * A page of the data of an archived node.
   *
   * @param archived its row, with its document
   * @param slot the number of the page, from 0
   * @throws UnknownKeyException if it has no such data
   */
  public DataPage data(ArchiveRow archived, String key, int slot) {
    JsonNode document =
        Json.read(
            Objects.requireNonNull(archived.text("document")).getBytes(StandardCharsets.UTF_8));
    StoredValue value = NodeData.read(document.path("data")).values().get(key);
    if (value == null) {
      throw new UnknownKeyException(new NodeId(Long.parseLong(archived.id())), key);
    }
    return parts.values().page(value, slot);
  }

  /**
   * 32 bytes that only the servers of this graph know: a key for the tokens of running commands.
   * Once there is a node, they stay the same after every restart.
   */
  public byte[] secret() {
    return parts.commits().secret();
  }

  /**
   * Deletes unique keys that are free, and the blobs of graphs that are not referred to: of values
   * that were replaced, of nodes that were removed from the store or the archive, and of changes
   * that failed. For use by one thread.
   */
  static final class GraphSweeper implements Step {
    /** How often all blobs are examined, and the least age of those that are then deleted. */
    static final Duration GRACE = Duration.ofHours(1);

    /** How often the blobs of replaced values are deleted. */
    static final Duration PAUSE = Duration.ofMinutes(1);

    /** How many keys one transaction deletes. */
    private static final int BATCH = 200;

    private final Parts parts;
    private final GraphSession session;
    private final ValueStore values;
    private final Archive archive;
    private Instant nextSweep = Instant.MIN;

    GraphSweeper(Parts parts, Archive archive) {
      this.parts = parts;
      this.session = parts.session();
      this.values = parts.values();
      this.archive = archive;
    }

    @Override
    public Instant step(Instant now) {
      for (String name = values.discarded(); name != null; name = values.discarded()) {
        values.blobs().delete(name);
      }
      if (!now.isBefore(nextSweep)) {
        sweep(now.minus(GRACE));
        sweepKeys(now.toEpochMilli());
        nextSweep = now.plus(GRACE);
      }
      return now.plus(PAUSE);
    }

    /** A key that is taken again meanwhile has another version, and stays. */
    private void sweepKeys(long nowMillis) {
      List<Document> free = new ArrayList<>();
      for (Document document : session.pages(Keys.UNIQUE)) {
        boolean held =
            UniqueNodes.Hold.read(document)
                .isHeld(id -> parts.readModel().find(id).orElse(null), nowMillis);
        if (!held) {
          free.add(document);
        }
      }
      for (int i = 0; i < free.size(); i += BATCH) {
        Transaction.Builder transaction = session.begin();
        free.subList(i, Math.min(free.size(), i + BATCH))
            .forEach(document -> transaction.delete(document.key(), document.version()));
        session.tryCommit(transaction.build());
      }
    }

    private void sweep(Instant before) {
      UnownedBlobs.sweep(
          values.blobs(),
          ValueStore.Upload.PREFIX,
          before,
          // A current change may be in a document that was read before the change.
          name -> !values.isUnderWay(name),
          unnamed -> {
            for (Document document : session.pages(Keys.DATA)) {
              NodeData.read(document).blobs().forEach(unnamed::remove);
            }
          });
      UnownedBlobs.sweep(
          values.blobs(),
          ValueStore.ARCHIVED,
          before,
          name -> ValueStore.archivedNode(name).isPresent(),
          this::removeArchived);
    }

    /** Keeps the blobs of archived nodes, and all of them while that is not known. */
    private void removeArchived(Set<String> names) {
      Map<String, List<String>> byNode =
          names.stream()
              .collect(
                  Collectors.groupingBy(
                      name -> ValueStore.archivedNode(name).orElseThrow().toString()));
      try {
        archive
            .present(ArchiveTable.GRAPHS, byNode.keySet())
            .forEach(id -> byNode.getOrDefault(id, List.of()).forEach(names::remove));
      } catch (ArchiveException e) {
        LOG.debug("no blobs of archived nodes are deleted", e);
        names.clear();
      }
    }
  }
}
