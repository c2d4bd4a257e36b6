package io.millrace.graph.store;

import io.millrace.graph.Caller;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.Phase;
import io.millrace.graph.model.Change;
import io.millrace.graph.model.Graph;
import io.millrace.graph.model.Rules;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Nodes that are added in one commit with something else, for example with the note of a schedule
 * that it has run. Safe for use by any number of threads.
 */
public final class GraphRuns {
  private final GraphSession session;
  private final GraphCommits commits;
  private final ValueStore values;
  private final DataRules rules;

  GraphRuns(StoredGraph.Parts parts) {
    this.session = parts.session();
    this.commits = parts.commits();
    this.values = parts.values();
    this.rules = parts.rules();
  }

  /**
   * Checks nodes that are to be added later, and that refer to no others.
   *
   * @throws InvalidGraphException if one is invalid; the message says which, counting from 1
   */
  public void check(List<NewNode> nodes) {
    StoreGraphRegistry.check(nodes, rules);
    List<Change.Added> _ = new Rules(new Graph()).add(nodes, rules, 1, 0);
  }

  /** Commits nodes together with something else. */
  @FunctionalInterface
  public interface Joint {
    /**
     * Adds to the transaction of the nodes, and commits it.
     *
     * @param firsts the first node of each list
     * @return null if something changed in between, and nothing was committed
     */
    Outcome.@Nullable Done commit(Transaction.Builder transaction, List<NodeId> firsts);
  }

  /**
   * Adds lists of nodes, all in one commit. The nodes of each list may refer to each other and to
   * nodes of the graph.
   *
   * @param joint called once at most
   * @return whether it was committed; false if something changed in between
   * @throws InvalidGraphException as {@link io.millrace.graph.GraphRegistry#add}
   */
  public boolean add(List<List<NewNode>> runs, Joint joint) {
    try (ValueStore.Upload upload = values.upload()) {
      List<List<NodeData>> data = new ArrayList<>(runs.size());
      for (List<NewNode> run : runs) {
        StoreGraphRegistry.check(run, rules);
        data.add(StoreGraphRegistry.store(run, upload));
      }
      return commits.runWith(
              model -> {
                List<NodeId> firsts = new ArrayList<>(runs.size());
                for (int i = 0; i < runs.size(); i++) {
                  firsts.add(
                      StoreGraphRegistry.add(model, Caller.ANYONE, runs.get(i), data.get(i), rules)
                          .getFirst());
                }
                return firsts;
              },
              joint::commit)
          != null;
    }
  }

  /** What has happened to a node according to the store; empty if it does not exist. */
  public Optional<Phase> phase(NodeId id) {
    return session.document(Keys.node(id)).map(node -> StoredNode.read(node).facts().phase());
  }

  /** The collection of the documents that change with the phases of nodes. */
  public static String collection() {
    return Keys.NODES;
  }

  /** The node to which a document of {@link #collection} belongs. */
  public static NodeId node(DocumentKey key) {
    return Keys.id(key);
  }
}
