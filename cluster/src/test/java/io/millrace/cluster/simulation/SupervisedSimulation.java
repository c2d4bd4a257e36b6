package io.millrace.cluster.simulation;

import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.membership.Station;
import io.millrace.cluster.partition.Follower;
import io.millrace.cluster.work.SupervisedWork;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A cluster whose members hold parts of one piece of work that has no end. */
final class SupervisedSimulation extends ClusterSimulation {
  private final Output output = new Output();
  private final int parts;

  SupervisedSimulation(long seed) {
    super(seed);
    parts = (int) world.between(2, 10);
  }

  @Override
  SimulatedLabor laborOf(Host host, Station station) {
    return new SimulatedWork(world, host, output, trouble, true);
  }

  @Override
  SimulatedMember.LeaderOf leaderOf(Line line) {
    return new SimulatedMember.LeaderOf() {
      @Override
      public Leader leader(Station station) {
        return Leader.of(station, new Parts());
      }

      @Override
      public Follower.Custom custom() {
        return Follower.Custom.DIVIDED;
      }
    };
  }

  /** As many parts as were asked for at first, whoever is there. */
  private final class Parts implements SupervisedWork {
    @Override
    public List<byte[]> divide(int workers) {
      List<byte[]> divided = new ArrayList<>();
      for (int i = 0; i < parts; i++) {
        divided.add(("part-" + i).getBytes(StandardCharsets.UTF_8));
      }
      return divided;
    }

    @Override
    public void run(byte[] task, Guard guard) {
      throw new AssertionError("the simulation works by itself");
    }
  }

  void run() {
    for (int i = 0; i < 3; i++) {
      start((int) world.between(1, 3));
    }
    troubleUntil(15_000);
    world.runUntil(world.now() + 8 * LEASE);
    requireEven("after all trouble");
    start(3);
    world.runUntil(world.now() + 3 * LEASE);
    requireEven("three leases after a join");
    requireLeaderAfterACrash();
    world.runUntil(world.now() + 8 * LEASE);
    requireEven("after a crash of the leader");
  }

  private void requireEven(String when) {
    int workers = members.stream().mapToInt(SimulatedMember::workers).sum();
    int all = Math.min(parts, workers);
    Map<String, Long> running =
        members.stream()
            .flatMap(member -> member.work().running().stream())
            .map(SimulatedLabor.SimulatedAttempt::task)
            .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
    Resource.require(
        running.size() == all && running.values().stream().allMatch(count -> count == 1),
        when
            + " of "
            + all
            + " parts these run: "
            + running
            + "\n"
            + documents
            + "\n"
            + world.now()
            + members);
    for (SimulatedMember member : members) {
      double share = (double) all * member.workers() / workers;
      Resource.require(
          Math.abs(member.held() - share) < 1,
          "%s a member holds %d, and its share is %.2f".formatted(when, member.held(), share)
              + state());
    }
  }

  private String state() {
    return "\nat " + world.now() + " ms, " + members + "\n" + documents;
  }

  String summary() {
    return world.now() + " ms, " + parts + " parts, " + members.size() + " members";
  }
}
