package io.millrace.graph.model;

import io.millrace.graph.Definition.Branch;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import org.jspecify.annotations.Nullable;

/** Derives the state of a waiting node from the nodes above it. */
final class Readiness {
  private int edges;
  private int pending;
  private int holding;
  private int skipped;
  private int notTaken;

  private Readiness() {}

  /** The state that follows from a node's own phase and the states of the nodes above it. */
  static NodeState of(Vertex vertex) {
    return switch (vertex.phase) {
      case Phase.Ended ended -> ended.state();
      case Phase.Running _ -> NodeState.RUNNING;
      case Phase.Waiting _ -> {
        Readiness readiness = new Readiness();
        for (Vertex parent : vertex.parents) {
          readiness.look(parent, parent.isGroup(), vertex.definition.branch());
        }
        for (Vertex before : vertex.after) {
          readiness.look(before, false, null);
        }
        yield readiness.state(vertex.definition.always());
      }
    };
  }

  private void look(Vertex above, boolean startIsEnough, @Nullable Branch branch) {
    edges++;
    if (startIsEnough && Phase.hasStarted(above.phase)) {
      return;
    }
    switch (above.state) {
      case FINISHED -> notTaken += leadsElsewhere(above, branch) ? 1 : 0;
      case SKIPPED -> skipped++;
      case FAILED, KILLED, BLOCKED -> holding++;
      case INCIPIENT, READY, RUNNING -> pending++;
    }
  }

  private static boolean leadsElsewhere(Vertex above, @Nullable Branch branch) {
    return branch != null
        && above.phase instanceof Phase.Ended ended
        && ended.taken() != null
        && ended.taken() != branch;
  }

  private NodeState state(boolean always) {
    int out = notTaken + (always ? 0 : skipped);
    if (edges > 0 && out == edges) {
      return NodeState.SKIPPED;
    }
    if (holding > 0 && !always) {
      return NodeState.BLOCKED;
    }
    return pending > 0 ? NodeState.INCIPIENT : NodeState.READY;
  }
}
