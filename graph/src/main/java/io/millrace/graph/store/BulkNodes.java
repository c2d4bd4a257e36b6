package io.millrace.graph.store;

import io.millrace.graph.Caller;
import io.millrace.graph.GraphException.GraphFullException;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphException.NotAllowedException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry.Removal;
import io.millrace.graph.Kill;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import io.millrace.graph.model.Change;
import io.millrace.store.Outcome;
import io.millrace.store.Transaction;
import io.millrace.work.bulk.BulkException.BatchTooLargeException;
import io.millrace.work.bulk.BulkException.BulkFullException;
import io.millrace.work.bulk.BulkException.InvalidBulkException;
import io.millrace.work.bulk.BulkOrder;
import io.millrace.work.bulk.BulkProgress.Skip;
import io.millrace.work.bulk.BulkTarget;
import io.millrace.work.filter.FieldPath;
import io.millrace.work.filter.Filter;
import io.millrace.work.filter.FilterException;
import io.millrace.work.filter.FilterFields;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Bulk actions on the nodes of a graph, in the order of their ids; nodes are deleted in the
 * opposite order, so that those below a node go first. What is done to a group is done to all nodes
 * in it, as by a single action.
 */
final class BulkNodes implements BulkTarget<BulkNodes.NodeItem> {
  /** How many nodes a page looks at before it ends without being full; changes wait for that. */
  private static final int MAX_LOOKED_AT = 5_000;

  private static final String BELOW = "below";

  private static final List<String> FIELDS =
      List.of(
          "id",
          "name",
          "type",
          "state",
          "parents",
          BELOW,
          "created",
          "started",
          "ended",
          "attempts",
          "reason");

  private static final Set<String> IDS = Set.of("id", "parents", BELOW);
  private static final Set<String> TIMES = Set.of("created", "started", "ended");

  static final String NEEDED = "a node that stays needs it, or a node below it runs";
  static final String UNREACHED = "it is not in reach any more";

  private final GraphSession session;
  private final GraphCommits commits;
  private final ReadModel readModel;

  BulkNodes(StoredGraph.Parts parts) {
    this.session = parts.session();
    this.commits = parts.commits();
    this.readModel = parts.readModel();
  }

  @Override
  public String kind() {
    return "nodes";
  }

  @Override
  public List<String> actions() {
    return List.of("retry", "kill", "delete");
  }

  @Override
  public BulkOrder prepare(BulkOrder order) {
    BulkTarget.checkOptions(order, order.action().equals("delete") ? Set.of(BELOW) : Set.of());
    var _ = removal(order);
    var _ = filter(order);
    return order;
  }

  private static Removal removal(BulkOrder order) {
    return switch (order.options().getOrDefault(BELOW, "false")) {
      case "true" -> Removal.SUBTREE;
      case "false" -> Removal.ALONE;
      default -> throw new InvalidBulkException("the option below must be true or false");
    };
  }

  private static Filter filter(BulkOrder order) {
    return Filter.read(order.filter(), new Fields());
  }

  /** The fields of nodes. */
  private static final class Fields implements FilterFields {
    @Override
    public void check(FieldPath path) {
      FilterFields.checkKnown("nodes", path, FIELDS);
    }

    @Override
    public JsonNode value(String field, JsonNode value) {
      if (TIMES.contains(field)) {
        return FilterFields.time(value);
      }
      if (value.isString() && IDS.contains(field)) {
        return NodeId.parse(value.asString())
            .map(BulkNodes::number)
            .orElseThrow(() -> new FilterException(field + " is the id of a node, not " + value));
      }
      if (value.isString() && field.equals("state") && NodeState.of(value.asString()).isEmpty()) {
        throw new FilterException(
            "there is no state %s, only %s"
                .formatted(
                    value.asString(),
                    List.of(NodeState.values()).stream()
                        .map(NodeState::word)
                        .collect(Collectors.joining(", "))));
      }
      return value;
    }
  }

  private static JsonNode number(NodeId id) {
    return JsonNodeFactory.instance.numberNode(id.value());
  }

  private static @Nullable JsonNode field(GraphNode node, String name, Ancestry ancestry) {
    JsonNodeFactory json = JsonNodeFactory.instance;
    return switch (name) {
      case "id" -> number(node.id());
      case "name" -> node.name() == null ? json.nullNode() : json.stringNode(node.name());
      case "type" -> json.stringNode(node.definition().type());
      case "state" -> json.stringNode(node.state().word());
      case "parents" -> array(node.definition().parents());
      case BELOW -> array(ancestry.of(node));
      case "created" -> json.numberNode(node.createdMillis());
      case "started" ->
          switch (node.phase()) {
            case Phase.Running running -> json.numberNode(running.startedMillis());
            case Phase.Ended ended when Phase.hasStarted(ended) ->
                json.numberNode(ended.startedMillis());
            default -> json.nullNode();
          };
      case "ended" ->
          node.phase() instanceof Phase.Ended ended
              ? json.numberNode(ended.endedMillis())
              : json.nullNode();
      case "attempts" -> json.numberNode(node.phase().attempt());
      case "reason" ->
          json.stringNode(
              switch (node.phase()) {
                case Phase.Waiting waiting -> waiting.reason();
                case Phase.Running _ -> "";
                case Phase.Ended ended -> ended.reason();
              });
      default -> null;
    };
  }

  private static ArrayNode array(Iterable<NodeId> ids) {
    ArrayNode array = JsonNodeFactory.instance.arrayNode();
    ids.forEach(id -> array.add(number(id)));
    return array;
  }

  /** The nodes below which nodes are, at one moment. */
  private record Ancestry(NavigableMap<NodeId, GraphNode> nodes) {
    /** All parents of a node, their parents, and so on. */
    Set<NodeId> of(GraphNode node) {
      Set<NodeId> found = new LinkedHashSet<>();
      Deque<NodeId> left = new ArrayDeque<>(node.definition().parents());
      for (NodeId next = left.poll(); next != null; next = left.poll()) {
        GraphNode parent = nodes.get(next);
        if (parent != null && found.add(next)) {
          left.addAll(parent.definition().parents());
        }
      }
      return found;
    }
  }

  /** A node as it was read. */
  record NodeItem(GraphNode node) implements Item {
    @Override
    public String id() {
      return node.id().toString();
    }

    @Override
    public String scope() {
      return id();
    }

    @Override
    public String summary() {
      String text = node.state().word() + ", type " + node.definition().type();
      return node.name() == null ? text : text + ", name " + node.name();
    }
  }

  @Override
  public Selection<NodeItem> select(BulkOrder order, long givenMillis) {
    return new Chosen(order, givenMillis);
  }

  /** A chosen node is not as it was read. */
  private static final class ChangedMeanwhileException extends RuntimeException {}

  private final class Chosen implements Selection<NodeItem> {
    private final String action;
    private final Filter filter;
    private final Removal removal;
    private final @Nullable Set<NodeId> tops;
    private final long givenMillis;

    Chosen(BulkOrder order, long givenMillis) {
      this.action = order.action();
      this.filter = filter(order);
      this.removal = removal(order);
      Set<String> reach = order.reach();
      this.tops =
          reach == null
              ? null
              : reach.stream()
                  .flatMap(text -> NodeId.parse(text).stream())
                  .collect(Collectors.toUnmodifiableSet());
      this.givenMillis = givenMillis;
    }

    @Override
    public Page<NodeItem> page(String after, int most) {
      NodeId last = NodeId.parse(after).orElse(null);
      return readModel.look(nodes -> {
        NavigableMap<NodeId, GraphNode> ordered =
            action.equals("delete") ? nodes.descendingMap() : nodes;
        return page(last == null ? ordered : ordered.tailMap(last, false), most, after, nodes);
      });
    }

    private Page<NodeItem> page(
        NavigableMap<NodeId, GraphNode> left,
        int most,
        String after,
        NavigableMap<NodeId, GraphNode> all) {
      Ancestry ancestry = new Ancestry(all);
      List<NodeItem> items = new ArrayList<>();
      String last = after;
      int lookedAt = 0;
      for (GraphNode node : left.values()) {
        last = node.id().toString();
        if (isChosen(node, ancestry)) {
          items.add(new NodeItem(node));
        }
        if (items.size() == most || ++lookedAt == MAX_LOOKED_AT) {
          return new Page<>(items, last, false);
        }
      }
      return new Page<>(items, last, true);
    }

    private boolean isChosen(GraphNode node, Ancestry ancestry) {
      return applies(node)
          && node.createdMillis() <= givenMillis
          && (tops == null
              || tops.contains(node.id())
              || ancestry.of(node).stream().anyMatch(tops::contains))
          && filter.matches(name -> field(node, name, ancestry));
    }

    private boolean applies(GraphNode node) {
      NodeState state = node.state();
      return switch (action) {
        case "retry" -> state == NodeState.FAILED || state == NodeState.KILLED;
        case "kill" ->
            !state.isTerminal()
                && !(node.phase() instanceof Phase.Running running && running.killing());
        case "delete" -> state != NodeState.RUNNING;
        default -> throw new InvalidBulkException("there is no action " + action);
      };
    }

    @Override
    public boolean apply(List<NodeItem> items, Joint joint) {
      JointPart part = new JointPart(joint);
      try {
        GraphCommits.Done<List<Skip>> done =
            commits.runWith(model -> change(model, items), part::commit);
        return done != null && (part.called || commitAlone(joint, done.value()));
      } catch (ChangedMeanwhileException _) {
        return false;
      } catch (GraphFullException e) {
        String message = String.valueOf(e.getMessage());
        if (part.called) {
          throw new BulkFullException(message);
        }
        if (items.size() > 1) {
          throw new BatchTooLargeException(message);
        }
        return applyLarge(items, joint);
      }
    }

    /**
     * Changes one node with so many others that they do not fit into one transaction: the graph
     * first, then the progress. If the server dies in between, the node does not match any more.
     */
    private boolean applyLarge(List<NodeItem> item, Joint joint) {
      try {
        return commitAlone(joint, commits.run(model -> change(model, item)).value());
      } catch (ChangedMeanwhileException _) {
        return false;
      } catch (GraphFullException e) {
        throw new BulkFullException(String.valueOf(e.getMessage()));
      }
    }

    /** Commits the progress if no node changes with it. */
    private boolean commitAlone(Joint joint, List<Skip> skips) {
      return joint.commit(session.begin(), skips) != null;
    }

    /** Changes nodes; returns those that it leaves alone. */
    private List<Skip> change(WriteModel model, List<NodeItem> items) {
      Permissions permissions =
          Permissions.of(tops == null ? Caller.ANYONE : new Caller.Subtrees(tops), model);
      for (NodeItem item : items) {
        NodeId id = item.node().id();
        if (model.find(id).filter(it -> it.version() == item.node().version()).isEmpty()) {
          throw new ChangedMeanwhileException();
        }
      }
      List<Skip> skips = new ArrayList<>();
      for (NodeItem item : items) {
        NodeId id = item.node().id();
        // Another node of the batch may have taken it along.
        if (model.find(id).filter(this::applies).isPresent()) {
          try {
            change(model, permissions, id);
          } catch (NodeStateException _) {
            skips.add(new Skip(item.id(), NEEDED));
          } catch (NotAllowedException _) {
            skips.add(new Skip(item.id(), UNREACHED));
          }
        }
      }
      return skips;
    }

    private void change(WriteModel model, Permissions permissions, NodeId id) {
      permissions.checkChange(id);
      switch (action) {
        case "retry" -> model.take(model.rules().retry(id));
        case "kill" -> {
          model.take(model.rules().kill(List.of(id), model.nowMillis()));
          model.rules().killing(List.of(id)).forEach(each -> model.kill(each, Kill.DEFAULT));
        }
        default -> {
          List<Change> changes = model.rules().remove(id, removal);
          changes.forEach(change -> permissions.checkChange(change.id()));
          model.take(changes);
        }
      }
    }
  }

  /** The progress that is committed with the nodes. */
  private static final class JointPart {
    private final Joint joint;

    /** Whether nodes have changed, and their commit was tried. */
    private boolean called;

    JointPart(Joint joint) {
      this.joint = joint;
    }

    Outcome.@Nullable Done commit(Transaction.Builder transaction, List<Skip> skips) {
      called = true;
      return joint.commit(transaction, skips);
    }
  }
}
