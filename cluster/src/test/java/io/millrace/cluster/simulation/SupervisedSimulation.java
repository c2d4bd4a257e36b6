package io.millrace.cluster.simulation;

import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.partition.PartitionRunner;
import io.millrace.cluster.work.SupervisedWork;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A cluster with supervised work, which has no end. */
final class SupervisedSimulation extends ClusterSimulation {
  private final Output output = new Output();
  private final int parts;

  SupervisedSimulation(long seed, LeaseTerms terms) {
    super(seed, terms);
    parts = (int) world.between(2, 10);
  }

  @Override
  SimulatedHandler handlerOf(Host host, MemberContext context) {
    return new SimulatedTaskHandler(world, host, output, faults, true);
  }

  @Override
  SimulatedMember.MemberSetup setup(SimulatedConnection connection) {
    return new SimulatedMember.MemberSetup() {
      @Override
      public Leader leader(MemberContext context) {
        return new Leader(context, new Parts());
      }

      @Override
      public PartitionRunner.Mode mode() {
        return PartitionRunner.Mode.DIVIDED;
      }
    };
  }

  /** No two attempts may work on the same part, even in different generations. */
  @Override
  Optional<String> exclusive(SimulatedHandler.SimulatedAttempt attempt) {
    return Optional.of(part(attempt));
  }

  private static String part(SimulatedHandler.SimulatedAttempt attempt) {
    return attempt.task().substring(0, attempt.task().indexOf(" for "));
  }

  /** Divides the work into a fixed number of parts, which name the number of workers. */
  private final class Parts implements SupervisedWork {
    @Override
    public List<byte[]> divide(int workers) {
      List<byte[]> divided = new ArrayList<>();
      for (int i = 0; i < parts; i++) {
        divided.add(
            ("part-" + i + " for " + workers + " workers").getBytes(StandardCharsets.UTF_8));
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
    injectFaultsUntil(15_000);
    world.runUntil(world.now() + 8 * LEASE);
    requireEven("after all trouble");
    start(3);
    world.runUntil(world.now() + 3 * LEASE);
    requireEven("three leases after a join");
    requireLeaderAfterACrash();
    world.runUntil(world.now() + 8 * LEASE);
    requireEven("after a crash of the leader");
  }

  /**
   * Kills the leader, without other faults. After that, all parts for which there are workers must
   * run within three leases, and continue to run.
   */
  void requireNoLongStall() {
    faults.end();
    for (int i = 0; i < 4; i++) {
      start((int) world.between(1, 3));
    }
    long lease = terms.lease().toMillis();
    world.runUntil(8 * lease + world.between(0, lease));
    requireEven("before the crash");
    crash(leader().orElseThrow());
    long killed = world.now();
    long uneven = killed;
    while (world.now() < killed + 8 * lease) {
      world.runUntil(world.now() + 50);
      if (uneven().isPresent()) {
        uneven = world.now();
      }
    }
    Resource.require(
        uneven - killed <= 3 * lease,
        "supervised work stalled for " + (uneven - killed) + " ms after the leader's death");
  }

  /**
   * Kills the leader or another member. After that, no part for which there are workers may stall
   * for longer than lease, margin and two seconds.
   */
  void requireShortStall() {
    stopFaults();
    for (int i = 0; i < 4; i++) {
      start((int) world.between(1, 3));
    }
    long lease = terms.lease().toMillis();
    long max = terms.takeoverMillis() + 2000;
    world.runUntil(4 * lease + world.between(0, lease));
    requireEven("before the crash");
    SimulatedMember victim =
        world.oneIn(2)
            ? leader().orElseThrow()
            : members.get(world.random().nextInt(members.size()));
    crash(victim);
    long killed = world.now();
    Map<String, Long> running = new HashMap<>();
    long longest = 0;
    long leaderless = 0;
    long uneven = 0;
    while (world.now() < killed + 4 * lease) {
      world.runUntil(world.now() + 10);
      uneven = uneven().isPresent() ? world.now() - killed : uneven;
      leaderless = leader().isPresent() ? leaderless : world.now() - killed;
      members.stream()
          .flatMap(member -> member.work().running().stream())
          .forEach(attempt -> running.put(part(attempt), world.now()));
      long still =
          IntStream.range(0, parts)
              .mapToLong(i -> running.getOrDefault("part-" + i, killed))
              .sorted()
              .skip(Math.max(0, parts - workers()))
              .findFirst()
              .orElse(world.now());
      longest = Math.max(longest, world.now() - still);
    }
    Resource.require(leaderless <= max, "nobody led for " + leaderless + " ms after a death");
    Resource.require(longest <= max, "a part stood still for " + longest + " ms after a death");
    Resource.require(
        uneven <= max + 4000, "the work was not spread for " + uneven + " ms after a death");
  }

  private int workers() {
    return members.stream().mapToInt(SimulatedMember::workers).sum();
  }

  private void requireEven(String when) {
    uneven()
        .ifPresent(how -> {
          throw new AssertionError(
              "%s %s%nat %d ms, %s%n%s".formatted(when, how, world.now(), members, documents));
        });
  }

  /**
   * A description of an uneven state; empty if each part runs once, the work was divided for the
   * present members, and each member has its share.
   */
  private Optional<String> uneven() {
    int workers = members.stream().mapToInt(SimulatedMember::workers).sum();
    int all = Math.min(parts, workers);
    List<SimulatedHandler.SimulatedAttempt> attempts =
        members.stream().flatMap(member -> member.work().running().stream()).toList();
    Map<String, Long> running =
        attempts.stream()
            .map(SupervisedSimulation::part)
            .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
    if (running.size() != all || running.values().stream().anyMatch(count -> count > 1)) {
      return Optional.of("of " + all + " parts these run: " + running);
    }
    for (SimulatedHandler.SimulatedAttempt attempt : attempts) {
      if (!attempt.task().endsWith(" for " + workers + " workers")) {
        return Optional.of(
            "the work is not divided for " + workers + " workers: " + attempt.task());
      }
    }
    return members.stream()
        .filter(member -> Math.abs(member.held() - (double) all * member.workers() / workers) >= 1)
        .map(member ->
            "%s holds %d of %d parts, with %d of %d workers"
                .formatted(member.token(), member.held(), all, member.workers(), workers))
        .findFirst();
  }

  String summary() {
    return world.now() + " ms, " + parts + " parts, " + members.size() + " members";
  }
}
