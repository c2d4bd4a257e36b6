package io.millrace.cluster.simulation;

import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.lock.LockDocument;
import io.millrace.cluster.lock.LockForm;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Processes that fight for one lock, through all trouble and then in peace. */
final class LockSimulation {
  private static final int CONTENDERS = 4;
  private static final long TROUBLE_MILLIS = 60_000;

  private final World world;
  private final Trouble trouble = new Trouble();
  private final SimulatedDocuments documents;
  private final Resource resource;
  private final LeaseTerms terms;
  private final boolean pauses;
  private final List<Contender> contenders = new ArrayList<>();
  private @Nullable VersionedDocument seen;
  private int started;
  private int takeovers;

  /**
   * A simulation.
   *
   * @param terms the terms by which locks are held
   * @param drift by how much clocks are off at most, as a part
   * @param pauses whether processes stand still
   */
  LockSimulation(long seed, LeaseTerms terms, double drift, boolean pauses) {
    world = new World(seed);
    documents = new SimulatedDocuments(world);
    resource = new Resource(drift);
    this.terms = terms;
    this.pauses = pauses;
  }

  void run() {
    world.checkAlways(this::check);
    for (int i = 0; i < CONTENDERS; i++) {
      start();
    }
    makeTrouble();
    world.runUntil(TROUBLE_MILLIS);
    trouble.end();
    long calm = world.now() + 5 * terms.lease().toMillis();
    world.runUntil(calm);
    Resource.require(holder() != null, "nobody holds the lock long after all trouble");
    crashTheHolder();
    Resource.require(holder() != null, "nobody holds the lock three leases after a crash");
  }

  private void crashTheHolder() {
    for (int i = 0; i < 2; i++) {
      Contender holder = holder();
      if (holder != null) {
        holder.host().crash();
        start();
      }
      world.runUntil(world.now() + 3 * terms.lease().toMillis());
      takeovers++;
    }
  }

  private @Nullable Contender holder() {
    return contenders.stream().filter(Contender::holds).findFirst().orElse(null);
  }

  private void start() {
    Host host = new Host(world);
    Line line = new Line(world, documents, host, trouble);
    Contender contender = new Contender(world, host, line, terms, resource, "token-" + started++);
    contenders.add(contender);
    contender.start();
  }

  private void makeTrouble() {
    world.in(
        world.between(50, 2000),
        () -> {
          if (trouble.isOn()) {
            befall(contenders.get(world.random().nextInt(contenders.size())));
            makeTrouble();
          }
        });
  }

  private void befall(Contender contender) {
    Host host = contender.host();
    switch (world.random().nextInt(pauses ? 5 : 3)) {
      case 0 -> {
        host.crash();
        contenders.remove(contender);
        start();
      }
      case 1 -> contender.giveUp();
      case 2 -> host.cutOff(world.between(100, 6000));
      default -> host.standStill(world.between(50, 8000));
    }
  }

  /** By their own clocks, never two hold it, whatever has befallen them. */
  private void check() {
    long holders = contenders.stream().filter(Contender::holds).count();
    Resource.require(holders <= 1, holders + " hold the lock at once");
    documents.get(Contender.KEY).filter(now -> !now.equals(seen)).ifPresent(this::checkFence);
  }

  private void checkFence(VersionedDocument now) {
    LockDocument lock = LockForm.read(now);
    LockDocument before = seen == null ? null : LockForm.read(seen);
    seen = now;
    if (before != null && !lock.holder().isEmpty() && !lock.holder().equals(before.holder())) {
      Resource.require(lock.fence() > before.fence(), "a new holder has an old fence");
    }
    Resource.require(before == null || lock.fence() >= before.fence(), "a fence went back");
  }

  String summary() {
    return "%d writes, %d refused, %d processes, %d ms, %d"
        .formatted(resource.writes(), resource.refused(), started, world.now(), takeovers);
  }

  int writes() {
    return resource.writes();
  }

  int refused() {
    return resource.refused();
  }
}
