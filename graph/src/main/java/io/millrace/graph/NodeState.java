package io.millrace.graph;

import java.util.Locale;
import java.util.Optional;

/** The state of a graph node. */
public enum NodeState {
  /** A node above it has not ended. */
  INCIPIENT,
  /** It may start. */
  READY,
  /** It has started. */
  RUNNING,
  /** It succeeded. */
  FINISHED,
  /** It failed; the nodes below it are held back until it is retried and finishes. */
  FAILED,
  /** It was killed; holds back like a failed one. */
  KILLED,
  /** It is on the branch that a condition did not choose, or only below such nodes. */
  SKIPPED,
  /** A node above it has failed, was killed, or is blocked itself. */
  BLOCKED;

  /** Whether the node stays in this state unless it is retried. */
  public boolean isTerminal() {
    return this == FINISHED || this == FAILED || this == KILLED || this == SKIPPED;
  }

  /** Whether nothing more happens to it by itself: its state is terminal, or it is blocked. */
  public boolean isSettled() {
    return isTerminal() || this == BLOCKED;
  }

  /** Whether it holds back the nodes below it. */
  public boolean holds() {
    return this == FAILED || this == KILLED || this == BLOCKED;
  }

  /** The name in the API: lower case. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The state of this name; empty if there is none. */
  public static Optional<NodeState> of(String word) {
    for (NodeState state : values()) {
      if (state.word().equals(word)) {
        return Optional.of(state);
      }
    }
    return Optional.empty();
  }
}
