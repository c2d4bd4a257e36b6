package io.millrace.graph;

import java.util.Locale;
import java.util.Optional;

/** Where a graph node stands. */
public enum NodeState {
  /** Something above it has not ended. */
  INCIPIENT,
  /** It may start. */
  READY,
  /** It has started. */
  RUNNING,
  /** It did what it was to do. */
  FINISHED,
  /** It did not; what is below it is held back until it is retried and finishes. */
  FAILED,
  /** Somebody ended it; holds back like a failed one. */
  KILLED,
  /** It is on the branch that a condition did not choose, or only below such. */
  SKIPPED,
  /** Something above it has failed, was killed, or is blocked itself. */
  BLOCKED;

  /** Whether the node stays in this state unless it is retried. */
  public boolean isTerminal() {
    return this == FINISHED || this == FAILED || this == KILLED || this == SKIPPED;
  }

  /** Whether nothing more happens to it by itself: terminal, or blocked. */
  public boolean isSettled() {
    return isTerminal() || this == BLOCKED;
  }

  /** Whether it holds back what is below it. */
  public boolean holds() {
    return this == FAILED || this == KILLED || this == BLOCKED;
  }

  /** The name in the API: lower case. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The state of this name; empty when there is none. */
  public static Optional<NodeState> of(String word) {
    for (NodeState state : values()) {
      if (state.word().equals(word)) {
        return Optional.of(state);
      }
    }
    return Optional.empty();
  }
}
