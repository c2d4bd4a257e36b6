package io.millrace.graph.store;

import io.millrace.graph.Caller;
import io.millrace.graph.Definition;
import io.millrace.graph.GraphException.NotAllowedException;
import io.millrace.graph.NewNode;
import io.millrace.graph.NewNode.NodeRef;
import io.millrace.graph.NodeId;
import io.millrace.graph.Phase;
import io.millrace.graph.model.Change;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** What a caller may change. */
final class Permissions {
  private final WriteModel model;

  /** The node for which the caller acts; empty if the caller may change everything. */
  private final Optional<NodeId> node;

  /** Nodes that are known to be below it, or will be. */
  private final Set<NodeId> below = new HashSet<>();

  private Permissions(WriteModel model, Optional<NodeId> node) {
    this.model = model;
    this.node = node;
  }

  /**
   * The permissions of a caller now.
   *
   * @throws NotAllowedException if it is a command whose attempt has ended
   */
  static Permissions of(Caller caller, WriteModel model) {
    return switch (caller) {
      case Caller.Anyone _ -> new Permissions(model, Optional.empty());
      case Caller.RunningNode(NodeId id, int attempt) -> {
        boolean runs =
            model
                .find(id)
                .filter(
                    it -> it.phase() instanceof Phase.Running && it.phase().attempt() == attempt)
                .isPresent();
        if (!runs) {
          throw new NotAllowedException("attempt " + attempt + " of node " + id + " is over");
        }
        yield new Permissions(model, Optional.of(id));
      }
    };
  }

  /**
   * Checks whether new nodes may refer to the existing nodes that they name. To be called before
   * any other check of their places, so that a caller learns nothing about nodes that it may not
   * use.
   */
  void checkNamed(List<NewNode> nodes) {
    for (NewNode it : nodes) {
      it.place().parents().forEach(this::checkNamed);
      it.place().after().forEach(this::checkNamed);
    }
  }

  private void checkNamed(NodeRef ref) {
    if (node.isPresent() && ref instanceof NodeRef.Existing(NodeId id)) {
      NodeId own = node.get();
      if (model.find(id).isPresent() && !id.equals(own) && !isBelow(id, own)) {
        throw outside(own);
      }
    }
  }

  private static NotAllowedException outside(NodeId own) {
    return new NotAllowedException(
        "node " + own + " may only add and move nodes below itself and each other");
  }

  /** Checks whether nodes with these definitions may be added or moved to their places. */
  void checkPlaces(List<Change.Added> added) {
    added.forEach(it -> below.add(it.id()));
    added.forEach(it -> checkPlace(it.definition()));
  }

  /** Checks whether a node may have this place. */
  void checkPlace(Definition definition) {
    if (node.isPresent()) {
      NodeId own = node.get();
      boolean inside =
          !definition.parents().isEmpty()
              && definition.above().allMatch(it -> it.equals(own) || isBelow(it, own));
      if (!inside) {
        throw outside(own);
      }
    }
  }

  /** Checks whether a node may be changed. */
  void checkChange(NodeId id) {
    if (node.isPresent() && !isBelow(id, node.get())) {
      throw new NotAllowedException(
          "node " + node.get() + " may not change node " + id + ", which is not below it");
    }
  }

  /** Checks whether the data of a node may be changed. */
  void checkData(NodeId id) {
    if (node.isPresent()) {
      NodeId own = node.get();
      boolean near = id.equals(own) || model.node(own).definition().parents().contains(id);
      if (!near && !isBelow(id, own)) {
        throw new NotAllowedException(
            "node "
                + own
                + " may not change data of node "
                + id
                + ", which is neither itself nor its parent nor below it");
      }
    }
  }

  private boolean isBelow(NodeId id, NodeId top) {
    Set<NodeId> seen = new HashSet<>(Set.of(id));
    Deque<NodeId> left = new ArrayDeque<>(seen);
    for (NodeId next = left.poll(); next != null; next = left.poll()) {
      if (below.contains(next)) {
        below.add(id);
        return true;
      }
      for (NodeId parent :
          model.find(next).map(it -> it.definition().parents()).orElse(List.of())) {
        if (parent.equals(top)) {
          below.add(id);
          return true;
        }
        if (seen.add(parent)) {
          left.add(parent);
        }
      }
    }
    return false;
  }
}
