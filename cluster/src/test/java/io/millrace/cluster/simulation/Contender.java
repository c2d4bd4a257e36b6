package io.millrace.cluster.simulation;

import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.lock.Lock;
import io.millrace.cluster.lock.Locks;
import io.millrace.cluster.lock.Sightings;
import io.millrace.cluster.lock.Tenure;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A process that wants a lock, and writes to a resource whenever it holds it. */
final class Contender {
  /** What the contenders fight for. */
  static final String KEY = "leader";

  private static final long WORK_MILLIS = 20;

  private final World world;
  private final Host host;
  private final SimulatedClock clock;
  private final Lock lock;
  private final Resource resource;
  private @Nullable Tenure last;
  private boolean givesUp;

  Contender(World world, Host host, Line line, LeaseTerms terms, Resource resource, String token) {
    this.world = world;
    this.host = host;
    this.clock = new SimulatedClock(world, resource.drift());
    this.resource = resource;
    this.lock =
        new Lock(
            KEY, line, new Locks(line, token, terms, clock), new Sightings(terms, clock), clock);
  }

  Host host() {
    return host;
  }

  /** Whether it holds the lock by its own clock. */
  boolean holds() {
    return !host.isGone() && last != null && last.isHeld();
  }

  /** Has it give the lock back if it holds it, and fight for it again. */
  void giveUp() {
    givesUp = true;
  }

  void start() {
    host.at(world.now() + world.between(0, 500), this::step);
  }

  private void step() {
    long next = lock.step();
    Optional<Tenure> tenure = lock.tenure();
    if (tenure.isPresent()) {
      if (last != tenure.get()) {
        last = tenure.get();
        resource.taken(last.fence());
      }
      work(last);
    }
    if (givesUp) {
      givesUp = false;
      lock.release();
    }
    long due = tenure.isPresent() ? Math.min(next, clock.monotonicMillis() + 100) : next;
    host.at(Math.max(clock.trueMillis(due), world.now() + 1), this::step);
  }

  /** A write by the rules: begun where the lock is held, and over before the lease is. */
  private void work(Tenure tenure) {
    long remaining = tenure.remaining().toMillis();
    if (remaining == 0) {
      return;
    }
    resource.enter(host);
    // Its own clock may be slow: what it takes for so long may be longer.
    long takes = world.between(0, Math.min(remaining - 1, WORK_MILLIS));
    long begun = clock.monotonicMillis();
    while (clock.monotonicMillis() < begun + takes) {
      host.pass(1);
    }
    resource.write(host, tenure.fence());
    resource.leave(host);
  }
}
