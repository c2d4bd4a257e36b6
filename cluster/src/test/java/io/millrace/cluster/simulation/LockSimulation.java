package io.millrace.cluster.simulation;

import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.lock.LockDocument;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.membership.Peer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Processes that compete for one or several locks, first with faults and then without. */
final class LockSimulation {
  private static final int CONTENDERS = 4;
  private static final long FAULT_MILLIS = 60_000;

  private final World world;
  private final Faults faults = new Faults();
  private final SimulatedDocuments documents;
  private final double drift;
  private final ContendedLocks contended;
  private final Map<String, Resource> resources = new LinkedHashMap<>();
  private final LeaseTerms terms;
  private final boolean pauses;
  private final List<Contender> contenders = new ArrayList<>();
  private final Map<String, VersionedDocument> seen = new HashMap<>();
  private final Set<String> holders = new HashSet<>();
  private int started;
  private int takeovers;

  /**
   * Creates a simulation.
   *
   * @param terms the lease terms
   * @param drift the maximum error of clocks, as a fraction
   * @param pauses whether processes are paused
   * @param contended the locks
   */
  LockSimulation(
      long seed, LeaseTerms terms, double drift, boolean pauses, ContendedLocks contended) {
    world = new World(seed);
    documents = new SimulatedDocuments(world);
    contended.keys().forEach(key -> resources.put(key, new Resource()));
    this.drift = drift;
    this.contended = contended;
    this.terms = terms;
    this.pauses = pauses;
  }

  /** A simulation whose clocks have almost the tolerated error. */
  static LockSimulation of(long seed, boolean pauses, ContendedLocks contended) {
    LeaseTerms terms = ClusterSimulation.TERMS;
    return new LockSimulation(
        seed, terms, ClusterSimulation.DRIFT_FRACTION * terms.drift(), pauses, contended);
  }

  void run() {
    world.checkAlways(this::check);
    for (int i = 0; i < CONTENDERS; i++) {
      start();
    }
    injectFaults();
    world.runUntil(FAULT_MILLIS);
    faults.end();
    long calm = world.now() + 5 * terms.lease().toMillis();
    world.runUntil(calm);
    requireAllHeld("long after all trouble");
    crashHolders();
  }

  private void crashHolders() {
    for (int i = 0; i < 2; i++) {
      Contender holder =
          contenders.stream().filter(one -> one.holds() != null).findFirst().orElse(null);
      if (holder != null) {
        holder.host().crash();
        start();
      }
      world.runUntil(world.now() + 3 * terms.lease().toMillis());
      requireAllHeld("three leases after a crash");
      takeovers++;
    }
  }

  private void requireAllHeld(String when) {
    check();
    Resource.require(
        holders.containsAll(contended.keys()),
        "of " + contended.keys() + " only " + holders + " are held " + when);
  }

  private void start() {
    Host host = new Host(world);
    SimulatedConnection connection = new SimulatedConnection(world, documents, host, faults);
    SimulatedClock clock = new SimulatedClock(world, drift);
    Peer peer = new Peer("token-" + started++, 1);
    MemberContext context = new MemberContext(peer, connection, terms, clock, world.random());
    Contender contender =
        new Contender(world, host, clock, contended.acquirer().apply(context), resources);
    contenders.add(contender);
    contender.start();
  }

  private void injectFaults() {
    world.in(
        world.between(50, 2000),
        () -> {
          if (faults.isOn()) {
            injectFault(contenders.get(world.random().nextInt(contenders.size())));
            injectFaults();
          }
        });
  }

  private void injectFault(Contender contender) {
    Host host = contender.host();
    switch (world.random().nextInt(pauses ? 5 : 3)) {
      case 0 -> {
        host.crash();
        contenders.remove(contender);
        start();
      }
      case 1 -> contender.giveUp();
      case 2 -> host.cutOff(world.between(100, 6000));
      default -> host.pause(world.between(50, 8000));
    }
  }

  /** Checks that by their own clocks no two processes hold the same lock. */
  private void check() {
    holders.clear();
    for (Contender contender : contenders) {
      String key = contender.holds();
      Resource.require(key == null || holders.add(key), "two hold the lock at once: " + key);
    }
    for (String key : contended.keys()) {
      documents
          .get(key)
          .filter(now -> !now.equals(seen.get(key)))
          .ifPresent(now -> checkFence(seen.put(key, now), now));
    }
  }

  private static void checkFence(@Nullable VersionedDocument old, VersionedDocument now) {
    LockDocument lock = LockDocument.read(now);
    LockDocument before = old == null ? null : LockDocument.read(old);
    if (before != null && !lock.holder().isEmpty() && !lock.holder().equals(before.holder())) {
      Resource.require(lock.fence() > before.fence(), "a new holder has an old fence");
    }
    Resource.require(before == null || lock.fence() >= before.fence(), "a fence went back");
  }

  String summary() {
    return "%d writes, %d refused, %d processes, %d ms, %d"
        .formatted(writes(), refused(), started, world.now(), takeovers);
  }

  int writes() {
    return resources.values().stream().mapToInt(Resource::writes).sum();
  }

  int refused() {
    return resources.values().stream().mapToInt(Resource::refused).sum();
  }
}
