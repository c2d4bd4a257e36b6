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
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What a caller may change. */
final class Permissions {
  private final WriteModel model;

  /** The nodes for which the caller acts; null if the caller may change everything. */
  private final @Nullable Set<NodeId> tops;

  /** Whether it may change these nodes themselves; if not, it is a running command. */
  private final boolean includesTops;

  /** Nodes that are known to be below them, or will be. */
  private final Set<NodeId> below = new HashSet<>();

  private Permissions(WriteModel model, @Nullable Set<NodeId> tops, boolean includesTops) {
    this.model = model;
    this.tops = tops;
    this.includesTops = includesTops;
  }

  /**
   * The permissions of a caller now.
   *
   * @throws NotAllowedException if it is a command whose attempt has ended
   */
  static Permissions of(Caller caller, WriteModel model) {
    return switch (caller) {
      case Caller.Anyone _ -> new Permissions(model, null, true);
      case Caller.Subtrees(Set<NodeId> tops) -> new Permissions(model, tops, true);
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
        yield new Permissions(model, Set.of(id), false);
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
    if (tops != null
        && ref instanceof NodeRef.Existing(NodeId id)
        && model.find(id).isPresent()
        && !tops.contains(id)
        && !isBelow(id, tops)) {
      throw outside(tops);
    }
  }

  private NotAllowedException outside(Set<NodeId> own) {
    return new NotAllowedException(
        who(own)
            + (includesTops
                ? " may only add and move nodes below these nodes"
                : " may only add and move nodes below itself and each other"));
  }

  private String who(Set<NodeId> own) {
    String ids = own.stream().map(NodeId::toString).sorted().collect(Collectors.joining(", "));
    return includesTops ? "a caller that is limited to nodes " + ids : "node " + ids;
  }

  /** Checks whether nodes with these definitions may be added or moved to their places. */
  void checkPlaces(List<Change.Added> added) {
    added.forEach(it -> below.add(it.id()));
    added.forEach(it -> checkPlace(it.definition()));
  }

  /** Checks whether a node may have this place. */
  void checkPlace(Definition definition) {
    Set<NodeId> own = tops;
    if (own != null) {
      boolean inside =
          !definition.parents().isEmpty()
              && definition.above().allMatch(it -> own.contains(it) || isBelow(it, own));
      if (!inside) {
        throw outside(own);
      }
    }
  }

  /** Checks whether a node may be changed. */
  void checkChange(NodeId id) {
    if (tops != null && !(includesTops && tops.contains(id)) && !isBelow(id, tops)) {
      throw new NotAllowedException(
          who(tops)
              + " may not change node "
              + id
              + (includesTops ? "" : ", which is not below it"));
    }
  }

  /** Checks whether the data of a node may be changed. */
  void checkData(NodeId id) {
    Set<NodeId> own = tops;
    if (own != null) {
      boolean near =
          own.contains(id)
              || (!includesTops
                  && own.stream()
                      .anyMatch(it -> model.node(it).definition().parents().contains(id)));
      if (!near && !isBelow(id, own)) {
        throw new NotAllowedException(
            who(own)
                + " may not change data of node "
                + id
                + (includesTops ? "" : ", which is neither itself nor its parent nor below it"));
      }
    }
  }

  private boolean isBelow(NodeId id, Set<NodeId> tops) {
    Set<NodeId> seen = new HashSet<>(Set.of(id));
    Deque<NodeId> left = new ArrayDeque<>(seen);
    for (NodeId next = left.poll(); next != null; next = left.poll()) {
      if (below.contains(next)) {
        below.add(id);
        return true;
      }
      for (NodeId parent :
          model.find(next).map(it -> it.definition().parents()).orElse(List.of())) {
        if (tops.contains(parent)) {
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
