package io.millrace.graph.store;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.UnownedBlobs;
import io.millrace.graph.GraphException;
import io.millrace.graph.GraphException.GraphFullException;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphWork;
import io.millrace.graph.store.GraphSession.TransactionLimits;
import io.millrace.graph.type.NodeTypes;
import io.millrace.store.Document;
import io.millrace.store.StoreException;
import io.millrace.store.TaskStore;
import io.millrace.work.Step;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.random.RandomGenerator;

/**
 * The graph of a store: the entry of this module. Safe for use by any number of threads. A store
 * should have only one: if there are several, each has to load the graph again after every change
 * of another.
 */
public final class StoredGraph {
  private final Parts parts;
  private final GraphRegistry registry;
  private final GraphWork work;
  private final Step sweeper;

  /** What reads and writes. */
  record Parts(
      GraphSession session,
      GraphCommits commits,
      ReadModel readModel,
      ValueStore values,
      DataRules rules) {}

  private StoredGraph(Parts parts, DataReader reader, Step sweeper) {
    this.parts = parts;
    this.sweeper = sweeper;
    this.registry = new StoreGraphRegistry(parts, reader);
    this.work = new StoreGraphWork(parts, reader);
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
    Step sweeper = new GraphSweeper(session, values);
    return new StoredGraph(parts, new DataReader(parts, clock, names), sweeper);
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
   * Deletes the blobs that are not referred to, an hour after they were written; always the same
   * object.
   */
  public Step sweeper() {
    return sweeper;
  }

  /**
   * 32 bytes that only the servers of this graph know: a key for the tokens of running commands.
   * Once there is a node, they stay the same after every restart.
   */
  public byte[] secret() {
    return parts.commits().secret();
  }

  /**
   * Deletes the blobs of graphs that are not referred to: of values that were replaced, of nodes
   * that were removed, and of changes that failed. For use by one thread.
   */
  static final class GraphSweeper implements Step {
    /** How often all blobs are examined, and the least age of those that are then deleted. */
    static final Duration GRACE = Duration.ofHours(1);

    /** How often the blobs of replaced values are deleted. */
    static final Duration PAUSE = Duration.ofMinutes(1);

    private final GraphSession session;
    private final ValueStore values;
    private Instant nextSweep = Instant.MIN;

    GraphSweeper(GraphSession session, ValueStore values) {
      this.session = session;
      this.values = values;
    }

    @Override
    public Instant step(Instant now) {
      for (String name = values.discarded(); name != null; name = values.discarded()) {
        values.blobs().delete(name);
      }
      if (!now.isBefore(nextSweep)) {
        sweep(now.minus(GRACE));
        nextSweep = now.plus(GRACE);
      }
      return now.plus(PAUSE);
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
    }
  }
}
