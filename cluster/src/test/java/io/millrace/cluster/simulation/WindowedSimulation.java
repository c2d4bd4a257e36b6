package io.millrace.cluster.simulation;

import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.partition.PartitionRunner;
import io.millrace.cluster.work.WindowedWork;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

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
        return new Leader(context, new Tasks(connection, TASKS, output));
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
    return documents.list(Tasks.FINISHED, 0).size();
  }

  int refused() {
    return output.refused();
  }

  String summary() {
    return world.now() + " ms, " + output.refused() + " refused, " + members.size() + " members";
  }

  /** A fixed number of tasks; documents record those that are done. */
  private static final class Tasks implements WindowedWork {
    /** The prefix of the keys of finished tasks. */
    static final String FINISHED = "finished/";

    private final VersionedDocuments documents;
    private final int tasks;
    private final Output output;
    private final Set<String> finished = new HashSet<>();

    Tasks(VersionedDocuments documents, int tasks, Output output) {
      this.output = output;
      this.documents = documents;
      this.tasks = tasks;
    }

    @Override
    public List<byte[]> next(List<byte[]> outstanding, int max) {
      Set<String> given = new HashSet<>();
      outstanding.forEach(task -> given.add(new String(task, StandardCharsets.UTF_8)));
      List<byte[]> next = new ArrayList<>();
      for (int i = 0; i < tasks && next.size() < max; i++) {
        String task = "task-" + i;
        if (!given.contains(task) && !isFinished(task)) {
          next.add(task.getBytes(StandardCharsets.UTF_8));
        }
      }
      return next;
    }

    private boolean isFinished(String task) {
      if (!finished.contains(task) && documents.get(FINISHED + task).isPresent()) {
        finished.add(task);
      }
      return finished.contains(task);
    }

    @Override
    public void completed(byte[] task, Guard leader) {
      String name = new String(task, StandardCharsets.UTF_8);
      Resource.require(output.has(name), name + " was completed and not done");
      documents.put(FINISHED + name, Version.NONE, "{}");
      finished.add(name);
    }

    @Override
    public void run(byte[] task, Guard guard) {
      throw new AssertionError("the simulation works by itself");
    }
  }
}
