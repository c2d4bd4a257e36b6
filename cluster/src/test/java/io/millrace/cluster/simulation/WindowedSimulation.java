package io.millrace.cluster.simulation;

import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.partition.PartitionRunner;
import java.util.List;

/** A cluster with windowed work. */
final class WindowedSimulation extends ClusterSimulation {
  private final Output output = new Output();
  private static final int TASKS = 60;
  private static final long LONGEST_WORK = 700;

  WindowedSimulation(long seed) {
    this(seed, TERMS);
  }

  WindowedSimulation(long seed, LeaseTerms terms) {
    super(seed, terms);
  }

  @Override
  SimulatedHandler handlerOf(Host host, MemberContext context) {
    return new SimulatedTaskHandler(world, host, output, faults, false);
  }

  @Override
  SimulatedMember.MemberSetup setup(SimulatedConnection connection) {
    return new SimulatedMember.MemberSetup() {
      @Override
      public Leader leader(MemberContext context) {
        return new Leader(context, new SimulatedWindowedWork(connection, TASKS, output));
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
    injectFaultsUntil(15_000);
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

  /** Kills a member, and requires that its tasks are done lease, margin and two seconds later. */
  void requireShortStall() {
    stopFaults();
    for (int i = 0; i < 4; i++) {
      start((int) world.between(1, 3));
    }
    long settled = 2 * terms.lease().toMillis();
    world.runUntil(settled);
    List<String> tasks = List.of();
    while (tasks.isEmpty() && finished() < TASKS) {
      world.runUntil(world.now() + 50);
      SimulatedMember victim = members.get(world.random().nextInt(members.size()));
      tasks = victim.work().running().stream().map(attempt -> attempt.task()).toList();
      if (!tasks.isEmpty()) {
        crash(victim);
      }
    }
    long killed = world.now();
    while (!tasks.stream().allMatch(output::has) && world.now() < killed + 100_000) {
      world.runUntil(world.now() + 10);
    }
    long still = world.now() - killed;
    Resource.require(
        still <= terms.takeoverMillis() + 2000 + LONGEST_WORK,
        "tasks stood still for " + still + " ms after a death");
  }

  private int finished() {
    return documents.list(SimulatedWindowedWork.FINISHED, 0).size();
  }

  int refused() {
    return output.refused();
  }

  String summary() {
    return world.now() + " ms, " + output.refused() + " refused, " + members.size() + " members";
  }
}
