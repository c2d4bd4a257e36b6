package io.millrace.graph;

import io.millrace.graph.GraphException.GraphFullException;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphException.NotAllowedException;
import io.millrace.graph.GraphException.StaleViewException;
import io.millrace.graph.GraphException.UnknownKeyException;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphException.VersionException;
import io.millrace.graph.GraphException.VersionLostException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The graph of a store. Every change is one transaction, atomic and durable, and everything that is
 * read is durable. Safe for use by any number of threads; the methods block until the store has
 * answered.
 *
 * <p>Limits: 10,000 nodes a request, names of 128 characters, 2,000 keys a node, each of 1 to 128
 * letters, digits, dots, dashes and underscores. A text has up to 4,096 pages of 256 KiB, another
 * value up to 1 MiB as JSON with 100 levels, and what a type reads up to 1 MiB. What is small of a
 * node's data is stored together and has up to 640 KiB. More than that is an {@link
 * InvalidGraphException}.
 *
 * <p>All methods that change something throw {@link NotAllowedException} if the caller may not,
 * {@link UnknownNodeException} if a node that is named as such is not there, {@link
 * VersionException} if {@code expected} is neither null nor the version, {@link GraphFullException}
 * if the store has no room, and what {@code Rules} of the package {@code model} says of them.
 */
public interface GraphRegistry {
  /**
   * Adds nodes, all or none.
   *
   * @return the nodes, in the order given
   * @throws InvalidGraphException if one is invalid; the message says which, counting from 1
   */
  default List<GraphNode> add(Caller caller, List<NewNode> nodes) {
    return add(caller, nodes, null);
  }

  /**
   * Adds nodes if the graph has the expected version.
   *
   * @param expected the version that the graph must have; null for any
   */
  default List<GraphNode> add(Caller caller, List<NewNode> nodes, @Nullable Long expected) {
    return add(caller, nodes, Uniqueness.NONE, expected).nodes();
  }

  /**
   * Adds nodes unless an earlier request with the same unique key or request id counts. Then
   * nothing is added, whatever the version of the graph is, and whether or not the nodes could be
   * added now.
   */
  Added add(Caller caller, List<NewNode> nodes, Uniqueness unique, @Nullable Long expected);

  /**
   * The answer to a request to add nodes.
   *
   * @param ids the nodes, in the order given by the request that has added them
   * @param nodes those of them that are in the graph
   * @param duplicate whether they were added by an earlier request
   */
  record Added(List<NodeId> ids, List<GraphNode> nodes, boolean duplicate) {
    public Added {
      ids = List.copyOf(ids);
      nodes = List.copyOf(nodes);
    }
  }

  /** Moves a waiting node. */
  GraphNode move(Caller caller, NodeId id, NewNode.Place place, @Nullable Long expected);

  /**
   * Renames a node.
   *
   * @param name null for none
   */
  GraphNode rename(Caller caller, NodeId id, @Nullable String name, @Nullable Long expected);

  /**
   * Removes a node with its data. The caller must also be allowed to change the nodes that refer to
   * it.
   *
   * @param removal what happens to those nodes
   * @return how many nodes were removed
   */
  int remove(Caller caller, NodeId id, Removal removal, @Nullable Long expected);

  /**
   * Retries a failed or killed node; of a group, all such nodes in it.
   *
   * @return the node as it is then
   */
  GraphNode retry(Caller caller, NodeId id, @Nullable Long expected);

  /**
   * Kills nodes: waiting nodes at once, running nodes when their commands have ended. Nodes that
   * have ended stay as they are.
   */
  default void kill(Caller caller, Collection<NodeId> ids, Kill kill) {
    kill(caller, ids, kill, null);
  }

  /**
   * Kills nodes if they have the expected version.
   *
   * @param expected the version that each of them must have; null for any
   */
  void kill(Caller caller, Collection<NodeId> ids, Kill kill, @Nullable Long expected);

  /** Grows with every change. */
  long version();

  /** A node. */
  Optional<GraphNode> node(NodeId id);

  /**
   * Nodes in the order of their ids, a page of up to 1,000.
   *
   * @param wanted which page; null for the first page of the graph as it is now
   * @throws StaleViewException if that list is no longer kept
   */
  default Page<GraphNode> nodes(NodeFilter filter, Page.@Nullable Wanted wanted) {
    return nodes(filter, null, wanted);
  }

  /**
   * Nodes with a text in their names or in a value of the data that they were given, for example in
   * a command, whatever the case of its letters. What a node has written itself does not count, nor
   * do values of more than 4,096 bytes.
   *
   * @param text null for all nodes
   * @param wanted which page; null for the first page of the graph as it is now
   * @throws StaleViewException if that list is no longer kept
   */
  Page<GraphNode> nodes(NodeFilter filter, @Nullable String text, Page.@Nullable Wanted wanted);

  /** How many nodes there are in each state, without looking at them; states may be left out. */
  Map<NodeState, Long> counts();

  /**
   * Counts the nodes by graph from now on, in place of what was asked for before.
   *
   * @param label the label of the name of a graph, which is empty for a graph without a name. The
   *     same name always has the same label, and there are few of them: all are kept
   * @param none the label of nodes that are more than {@link GraphGroups#MAX_LEVELS} below their
   *     graph
   */
  GraphGroups groups(UnaryOperator<String> label, String none);

  /** All nodes that match, and the version of the graph at that moment. */
  Snapshot snapshot(NodeFilter filter);

  /**
   * The graph at one version.
   *
   * @param version the version from which to subscribe, so that nothing is missed
   * @param nodes all of its nodes that match
   */
  record Snapshot(long version, List<GraphNode> nodes) {
    public Snapshot {
      nodes = List.copyOf(nodes);
    }
  }

  /** The running nodes, in the order of their ids. */
  List<GraphNode> running();

  /**
   * The keys of a node's data in alphabetical order, a page of up to 1,000.
   *
   * @throws UnknownNodeException if there is no such node
   * @throws StaleViewException if that list is no longer kept
   */
  Page<String> keys(NodeId id, Page.@Nullable Wanted wanted);

  /**
   * A page of a node's data; of output, also while it grows.
   *
   * @param view the view of the first page; null for the current value
   * @param slot the number of the page, from 0
   * @throws UnknownNodeException if there is no such node
   * @throws UnknownKeyException if it has no such data
   * @throws StaleViewException if the value has changed since the first page
   */
  DataPage data(NodeId id, String key, @Nullable String view, int slot);

  /**
   * Changes data of a node.
   *
   * @return the first page of the new value, or the page that was written; its {@code next} is the
   *     page to write next
   * @throws NodeStateException if this key may not change now, or is set although it should be
   *     unset
   * @throws InvalidGraphException if the node's type does not accept the value
   * @throws StaleViewException if the value has changed since it was read
   */
  DataPage put(Caller caller, NodeId id, String key, DataWrite write, @Nullable Long expected);

  /**
   * Begins a stream of changes; to be closed.
   *
   * @param after the version of the last change that is known already; null begins now
   * @throws VersionLostException if the changes after that version are no longer kept
   */
  GraphChanges changes(@Nullable Long after);

  /** A change of one value of a node. */
  public sealed interface DataWrite {
    /** The new value; for a page, a text. */
    JsonNode value();

    /** Replaces the value, if there is one. */
    record Whole(JsonNode value) implements DataWrite {}

    /** Only if there is no value yet. */
    record IfUnset(JsonNode value) implements DataWrite {}

    /**
     * Replaces one page of a text; the number after the last page adds one.
     *
     * @param view the view of the pages that were read or written before
     * @param slot the number of the page, from 0
     */
    record Slot(JsonNode value, String view, int slot) implements DataWrite {}
  }

  /**
   * A page of a node's data.
   *
   * @param data a part of a text, of up to 256 KiB, or a whole value of another kind
   * @param view what all pages of this value share, as {@code pid} in the API; stale once the value
   *     was changed otherwise than by growing
   * @param slot the number of this page, from 0
   * @param next the number of the next page; null for the last one
   * @param growing whether a running command may still add to it
   */
  public record DataPage(
      JsonNode data, String view, int slot, @Nullable Integer next, boolean growing) {}

  /** What happens to the nodes that refer to a removed node. */
  public enum Removal {
    /** There may be none: a node is removed only if no node is below it or comes after it. */
    LEAF,

    /**
     * They stay. In place of the removed node, they refer to its parents and predecessors, so that
     * the order of all other nodes stays the same; a child of the root has none.
     */
    ALONE,

    /**
     * The nodes below are removed too. Nodes with another parent that stays, and nodes that only
     * come after a removed node, stay and no longer refer to it.
     */
    SUBTREE
  }

  /**
   * A part of a list as it was at one moment.
   *
   * @param items the items of this page
   * @param view what all pages of this list share, {@code pid} in the API
   * @param next where the next page starts; null for the last page
   * @param version the version of the graph at the moment of the list, from which changes can be
   *     followed
   */
  public record Page<T>(List<T> items, String view, @Nullable String next, long version) {
    /**
     * The page of a list that is wanted.
     *
     * @param view the view of the first page
     * @param start the {@code next} of the page before
     */
    public record Wanted(String view, String start) {}

    public Page {
      items = List.copyOf(items);
    }
  }
}
