package io.millrace.cluster.simulation;

import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.partition.PartitionRunner;

/** A cluster that works through tasks. */
final class WindowedSimulation extends ClusterSimulation {
  private final Output output = new Output();
  private static final int TASKS = 60;

  WindowedSimulation(long seed) {
    super(seed, TERMS);
  }

  @Override
  SimulatedLabor laborOf(Host host, MemberContext context) {
    return new SimulatedWork(world, host, output, trouble, false);
  }

  @Override
  SimulatedMember.LeaderOf leaderOf(Line line) {
    return new SimulatedMember.LeaderOf() {
      @Override
      public Leader leader(MemberContext context) {
        return new Leader(context, new SimulatedWindow(line, TASKS, output));
      }

      @Override
      public PartitionRunner.Mode mode() {
        return PartitionRunner.Mode.SHORT;
      }
    };
  }

  void run() {
    for (int i = 0; i < 4; i++) {
      start((int) world.between(1, 3));
    }
    troubleUntil(15_000);
    world.runUntil(world.now() + 4 * LEASE);
    requireLeaderAfterACrash();
    long until = world.now() + 60 * LEASE;
    while (finished() < TASKS && world.now() < until) {
      world.runUntil(world.now() + 500);
    }
    Resource.require(finished() == TASKS, finished() + " of " + TASKS + " tasks were completed");
    world.runUntil(world.now() + 4 * LEASE);
    Resource.require(
        documents.list("partition/", 0).isEmpty(),
        "partitions are left: " + documents.list("partition/", 0));
  }

  private int finished() {
    return documents.list(SimulatedWindow.FINISHED, 0).size();
  }

  int refused() {
    return output.refused();
  }

  String summary() {
    return world.now() + " ms, " + output.refused() + " refused, " + members.size() + " members";
  }
}
