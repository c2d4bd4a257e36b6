package io.millrace.queues.node;

import io.millrace.queues.ObjectId;
import io.millrace.queues.Status;
import io.millrace.store.Commit;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What must hold at every commit, and when all is over. */
final class NodeChecks {
  private final Referee referee = new Referee();

  /** Looks at a commit, and at what the nodes' runners do then. */
  void see(Commit commit, List<SimulatedNode> nodes) {
    referee.see(commit);
    checkWork(nodes);
  }

  /** No two processes work on one task. */
  private static void checkWork(List<SimulatedNode> nodes) {
    Set<ObjectId> worked = new HashSet<>();
    for (SimulatedNode node : nodes) {
      for (SimulatedRunner runner : node.host().runners()) {
        if (runner.isWorking()) {
          Referee.require(worked.add(runner.run().task()), "two work on " + runner.run().task());
        }
      }
    }
  }

  /** The tasks that there are. */
  List<String> tasks() {
    return List.copyOf(referee.statuses().keySet());
  }

  /** Whether every task has ended. */
  boolean allHaveEnded() {
    return referee.runsUnderWay() == 0
        && referee.statuses().values().stream()
            .noneMatch(s -> s == Status.QUEUED || Status.isActive(s));
  }

  /** What became of the tasks, for messages. */
  String statuses() {
    return referee.statuses().toString();
  }

  /** How much there was to see. */
  String summary() {
    return referee.statuses().size() + " tasks, " + referee.claims() + " claims";
  }
}
