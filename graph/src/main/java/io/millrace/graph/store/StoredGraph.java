package io.millrace.graph.store;

import io.millrace.blobs.BlobStore;
import io.millrace.graph.GraphException;
import io.millrace.graph.GraphException.GraphFullException;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphWork;
import io.millrace.graph.type.NodeTypes;
import io.millrace.store.StoreException;
import io.millrace.store.TaskStore;
import io.millrace.work.Step;

/**
 * The graph of a store: the entry of this module. Safe for use by any number of threads. There
 * should be one for a store: of several each would have to load the graph again after every change
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
   * Opens the graph of {@code store}, an empty one where there is none yet. Reads all of its nodes.
   *
   * @param blobs where data is kept that is too large for a commit
   * @param types the types that nodes may have; those there are of others stay
   * @throws GraphException when what is stored is damaged
   * @throws GraphFullException when the store has no room for a new graph
   * @throws StoreException when the store does not answer
   */
  public static StoredGraph open(
      TaskStore store, BlobStore blobs, NodeTypes types, GraphEnvironment environment) {
    return open(store, blobs, types, environment, TransactionLimits.DEFAULT);
  }

  static StoredGraph open(
      TaskStore store,
      BlobStore blobs,
      NodeTypes types,
      GraphEnvironment environment,
      TransactionLimits limits) {
    RandomNames names = new RandomNames(environment.random());
    GraphSession session = new GraphSession(store, names, limits);
    ReadModel readModel = new ReadModel();
    ValueStore values = new ValueStore(blobs, names);
    GraphCommits commits =
        new GraphCommits(session, environment.clock(), readModel, limits, values::discard);
    Parts parts = new Parts(session, commits, readModel, values, new DataRules(types));
    Step sweeper = new GraphSweeper(session, values);
    return new StoredGraph(parts, new DataReader(parts, environment.clock(), names), sweeper);
  }

  /** The graph as its users see it. */
  public GraphRegistry registry() {
    return registry;
  }

  /** The graph as its scheduler sees it. */
  public GraphWork work() {
    return work;
  }

  /** Deletes the blobs that no node names, an hour after they were written; always the same one. */
  public Step sweeper() {
    return sweeper;
  }

  /**
   * 32 bytes that only the servers of this graph know: a key for the tokens that running commands
   * get. Once there is a node they are the same after every restart.
   */
  public byte[] secret() {
    return parts.commits().secret();
  }
}
