package io.millrace.graph;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The place of a node in the graph, and its type.
 *
 * @param type the name of its type, for example {@code command}
 * @param kind the kind of that type
 * @param parents the nodes directly above; empty for the root. Parents of kind {@link Kind#GROUP}
 *     must have started, others must have finished
 * @param after other nodes that must have finished; may be groups
 * @param branch on which branch of those parents that are conditions it is; null for both
 * @param always whether it runs however the nodes above it ended
 * @param timing when it may start, and how long it may wait and take
 * @param limits the shared limits under which it starts
 */
public record Definition(
    String type,
    Kind kind,
    List<NodeId> parents,
    List<NodeId> after,
    @Nullable Branch branch,
    boolean always,
    Timing timing,
    NodeLimits limits) {

  public Definition {
    parents = List.copyOf(parents);
    after = List.copyOf(after);
  }

  /** Without limits. */
  public Definition(
      String type,
      Kind kind,
      List<NodeId> parents,
      List<NodeId> after,
      @Nullable Branch branch,
      boolean always,
      Timing timing) {
    this(type, kind, parents, after, branch, always, timing, NodeLimits.NONE);
  }

  /** The same at another place. */
  public Definition at(List<NodeId> newParents, List<NodeId> newAfter, @Nullable Branch newBranch) {
    return new Definition(type, kind, newParents, newAfter, newBranch, always, timing, limits);
  }

  /** The same at other times and under other limits. */
  public Definition starting(Timing newTiming, NodeLimits newLimits) {
    return new Definition(type, kind, parents, after, branch, always, newTiming, newLimits);
  }

  /** All nodes that it refers to. */
  public Stream<NodeId> above() {
    return Stream.concat(parents.stream(), after.stream());
  }

  /** What the graph itself must know about a type. */
  public enum Kind {
    /** Does some work. */
    WORK,
    /** Does some work and chooses a branch of its children. */
    CONDITION,
    /**
     * Does nothing itself: the nodes below it start with it, and it ends when all of them have
     * settled.
     */
    GROUP
  }

  /** Which children of a condition run. */
  public enum Branch {
    /** The children that run if it holds. */
    THEN,
    /** The children that run if it does not hold. */
    ELSE;

    /** The name in the API: lower case. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
