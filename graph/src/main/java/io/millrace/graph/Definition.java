package io.millrace.graph;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where a node is in the graph, and what it is.
 *
 * @param type the name of its type, as in {@code command}
 * @param kind what the graph knows of that type
 * @param parents what it is below; empty for the root. Those of kind {@link Kind#GROUP} must have
 *     started, others must have finished
 * @param after what else must have finished, groups too
 * @param branch on which branch it is of those parents that are conditions; null for both
 * @param always whether it runs however what is above it ended
 */
public record Definition(
    String type,
    Kind kind,
    List<NodeId> parents,
    List<NodeId> after,
    @Nullable Branch branch,
    boolean always) {

  /** Copies the lists. */
  public Definition {
    parents = List.copyOf(parents);
    after = List.copyOf(after);
  }

  /** The same somewhere else. */
  public Definition at(List<NodeId> newParents, List<NodeId> newAfter, @Nullable Branch newBranch) {
    return new Definition(type, kind, newParents, newAfter, newBranch, always);
  }

  /** All nodes that it names. */
  public Stream<NodeId> above() {
    return Stream.concat(parents.stream(), after.stream());
  }

  /** What the graph itself must know of a node's type. */
  public enum Kind {
    /** Does something. */
    WORK,
    /** Does something and chooses a branch of its children. */
    CONDITION,
    /**
     * Does nothing itself: what is below it starts with it, and it ends when all of that has
     * settled.
     */
    GROUP
  }

  /** Which children of a condition run. */
  public enum Branch {
    /** Where it holds. */
    THEN,
    /** Where it does not. */
    ELSE;

    /** The name in the API: lower case. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
