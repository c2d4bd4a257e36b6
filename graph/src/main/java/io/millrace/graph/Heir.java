package io.millrace.graph;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import org.jspecify.annotations.Nullable;

/**
 * One that names a node which is removed alone, and gets what that node named in its place.
 *
 * @param heir the one that stays
 * @param gone the one that goes
 */
record Heir(Vertex heir, Vertex gone) {
  /**
   * What it will be.
   *
   * @throws NodeStateException where it waits for something that only the other could tell it
   */
  Definition definition() {
    SequencedSet<NodeId> parents = new LinkedHashSet<>();
    for (Vertex parent : heir.parents) {
      if (parent.equals(gone)) {
        parents.addAll(gone.definition.parents());
      } else {
        parents.add(parent.id);
      }
    }
    SequencedSet<NodeId> after = new LinkedHashSet<>();
    for (Vertex before : heir.after) {
      if (before.equals(gone)) {
        checkAfter();
        addWhatEndsBefore(after);
      } else {
        after.add(before.id);
      }
    }
    if (isBelow()) {
      after.addAll(gone.definition.after());
    }
    return heir.definition.at(List.copyOf(parents), List.copyOf(after), branch());
  }

  private boolean isBelow() {
    return heir.parents.contains(gone);
  }

  /** It may be that it never runs, or waits for what is in a group: no other node says so. */
  private void checkAfter() {
    boolean tells = gone.isGroup() || gone.definition.branch() != null;
    if (tells && gone.state != NodeState.FINISHED) {
      refuse("comes after node " + gone.id + ", which has not finished");
    }
  }

  /**
   * Adds what has ended when the other starts; of a group that it is in, what comes before that.
   */
  private void addWhatEndsBefore(Collection<NodeId> before) {
    Deque<Vertex> left = new ArrayDeque<>(List.of(gone));
    SequencedSet<Vertex> seen = new LinkedHashSet<>(left);
    for (Vertex next = left.poll(); next != null; next = left.poll()) {
      for (Vertex parent : next.parents) {
        if (!parent.isGroup()) {
          before.add(parent.id);
        } else if (seen.add(parent)) {
          left.add(parent);
        }
      }
      before.addAll(next.definition.after());
    }
  }

  private @Nullable Branch branch() {
    Branch own = heir.definition.branch();
    if (isBelow() && gone.isCondition() && own != null && !leadsTo(own)) {
      refuse("is on a branch of node " + gone.id);
    }
    boolean chosen = heir.parents.stream().anyMatch(it -> it.isCondition() && !it.equals(gone));
    boolean inherits = isBelow() && gone.parents.stream().anyMatch(Vertex::isCondition);
    Branch inherited = gone.definition.branch();
    if (chosen && inherits && own != inherited) {
      refuse("would be on the branches of two conditions");
    }
    if (chosen) {
      return own;
    }
    return inherits ? inherited : null;
  }

  private boolean leadsTo(Branch branch) {
    return gone.state == NodeState.FINISHED
        && gone.phase instanceof Phase.Ended ended
        && ended.taken() == branch;
  }

  /** Of one that has started nothing depends on that any more. */
  private void refuse(String why) {
    if (heir.phase instanceof Phase.Waiting) {
      throw new NodeStateException("node " + heir.id + " " + why + "; move it first");
    }
  }
}
