package io.millrace.cluster.simulation;

import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.membership.Peer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A cluster whose members join, crash, are paused and are disconnected, with checks of its
 * behaviour.
 */
abstract class ClusterSimulation {
  /** Short terms, so that much happens in little time. */
  static final LeaseTerms TERMS = LeaseTerms.of(Duration.ofSeconds(2));

  static final long LEASE = TERMS.lease().toMillis();

  /** The maximum error of clocks, as a fraction of the drift that the margin tolerates. */
  static final double DRIFT_FRACTION = 0.99;

  final World world;
  final LeaseTerms terms;
  final Faults faults = new Faults();
  final SimulatedDocuments documents;
  final List<SimulatedMember> members = new ArrayList<>();
  private final Set<Object> held = new HashSet<>();
  private boolean rightClocks;
  private int started;

  ClusterSimulation(long seed, LeaseTerms terms) {
    this.terms = terms;
    world = new World(seed);
    documents = new SimulatedDocuments(world);
    world.checkAlways(this::check);
  }

  /** Creates the leader's part of members. */
  abstract SimulatedMember.MemberSetup setup(SimulatedConnection connection);

  /** Creates the handler of a member's partitions. */
  abstract SimulatedHandler handlerOf(Host host, MemberContext context);

  SimulatedMember start(int workers) {
    Host host = new Host(world);
    SimulatedConnection connection = new SimulatedConnection(world, documents, host, faults);
    Peer peer = new Peer("token-" + started++, workers);
    SimulatedClock clock =
        rightClocks
            ? SimulatedClock.right(world)
            : new SimulatedClock(world, DRIFT_FRACTION * terms.drift());
    MemberContext context = new MemberContext(peer, connection, terms, clock, world.random());
    SimulatedHandler work = handlerOf(host, context);
    SimulatedMember member = new SimulatedMember(world, host, context, work, setup(connection));
    members.add(member);
    member.start();
    return member;
  }

  /** Stops all faults; members that start from now on have accurate clocks. */
  void stopFaults() {
    faults.end();
    rightClocks = true;
  }

  void crash(SimulatedMember member) {
    member.host().crash();
    members.remove(member);
  }

  /** Injects faults until a time. */
  void injectFaultsUntil(long millis) {
    while (world.now() < millis) {
      world.runUntil(world.now() + world.between(100, 3000));
      injectFault(members.get(world.random().nextInt(members.size())));
    }
    faults.end();
    for (SimulatedMember member : List.copyOf(members)) {
      world.runUntil(member.host().faultyUntil());
    }
  }

  private void injectFault(SimulatedMember member) {
    switch (world.random().nextInt(6)) {
      case 0 -> {
        crash(member);
        start((int) world.between(1, 3));
      }
      case 5 -> split();
      case 1 -> start((int) world.between(1, 3));
      case 2 -> member.host().cutOff(world.between(100, 6000));
      default -> member.host().pause(world.between(50, 8000));
    }
    if (members.size() > 7) {
      crash(members.getFirst());
    }
  }

  /** Disconnects several members at once, while another one joins. */
  private void split() {
    long millis = world.between(500, 6000);
    members.stream().filter(_ -> world.oneIn(2)).forEach(member -> member.host().cutOff(millis));
    start((int) world.between(1, 3));
  }

  Optional<SimulatedMember> leader() {
    return members.stream().filter(member -> member.leading().isPresent()).findFirst();
  }

  /**
   * Something else, besides its partition, that no other attempt may work on at the same time.
   * Nothing by default, because a task may be assigned again in another partition.
   */
  Optional<String> exclusive(SimulatedHandler.SimulatedAttempt attempt) {
    return Optional.empty();
  }

  /**
   * Checks that by their own clocks no two members lead, or work on the same partition. Fences
   * would not show that, because members that take the same partition one after the other have
   * different fences.
   */
  private void check() {
    int leaders = 0;
    held.clear();
    for (SimulatedMember member : members) {
      leaders += member.leading().isPresent() ? 1 : 0;
      for (SimulatedHandler.SimulatedAttempt attempt : member.work().running()) {
        if (attempt.guard().isHeld()) {
          checkAlone(attempt.name());
          exclusive(attempt).ifPresent(this::checkAlone);
        }
      }
    }
    Resource.require(leaders <= 1, "two lead at once");
  }

  private void checkAlone(Object what) {
    if (!held.add(what)) {
      throw new AssertionError("two attempts hold " + what + " at once");
    }
  }

  void requireLeaderAfterACrash() {
    leader().ifPresent(this::crash);
    start(2);
    long until = world.now() + 3 * LEASE;
    while (leader().isEmpty() && world.now() < until) {
      world.runUntil(world.now() + 100);
    }
    Resource.require(leader().isPresent(), "nobody leads three leases after a crash");
  }
}
