package io.millrace.cli.graph.view;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Nodes as a tree: each stands once, below the first of its parents that is there. */
final class Forest {
  private final List<Stem> roots = new ArrayList<>();
  private final int size;

  /**
   * Of these nodes.
   *
   * @param nodes in the order in which they are to stand beside each other
   */
  Forest(Collection<NodeView> nodes) {
    size = nodes.size();
    Map<Long, Stem> stems = LinkedHashMap.newLinkedHashMap(size);
    nodes.forEach(node -> stems.put(node.id(), new Stem(node)));
    for (Stem stem : stems.values()) {
      Stem parent = null;
      for (long id : stem.node.place().parents()) {
        parent = parent == null ? stems.get(id) : parent;
      }
      if (parent == null) {
        roots.add(stem);
      } else {
        parent.below.add(stem);
      }
    }
    addUp();
  }

  /** Without recursion: a chain may be as long as the graph. */
  private void addUp() {
    List<Stem> order = new ArrayList<>(roots);
    for (int i = 0; i < order.size(); i++) {
      order.addAll(order.get(i).below);
    }
    order.reversed().forEach(Stem::addUp);
  }

  List<Stem> roots() {
    return roots;
  }

  int size() {
    return size;
  }

  /** A node and what is below it. */
  static final class Stem {
    /** What most concerns who looks comes first. */
    static final Comparator<Stem> URGENT_FIRST = Comparator.comparingInt(stem -> stem.urgency);

    final NodeView node;
    final List<Stem> below = new ArrayList<>();

    /** How many nodes, this one included. */
    int size = 1;

    /** The state that all of them are in; null where they are not in one. */
    @Nullable State common;

    private int urgency;

    private Stem(NodeView node) {
      this.node = node;
      common = node.state();
      urgency = node.state().urgency();
    }

    private void addUp() {
      for (Stem stem : below) {
        size += stem.size;
        common = common == stem.common ? common : null;
        urgency = Math.min(urgency, stem.urgency);
      }
    }
  }
}
