package io.millrace.cluster.simulation;

import io.millrace.cluster.lock.Acquirer;
import io.millrace.cluster.lock.Lease;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A process that competes for a lock, and writes to the protected resource whenever it holds it.
 */
final class Contender {
  private static final long WORK_MILLIS = 20;

  private final World world;
  private final Host host;
  private final SimulatedClock clock;
  private final Acquirer acquirer;
  private final Map<String, Resource> resources;
  private @Nullable Lease last;
  private boolean givesUp;

  /**
   * Creates a process that holds nothing yet.
   *
   * @param resources the protected resources, by the keys of their locks
   */
  Contender(
      World world,
      Host host,
      SimulatedClock clock,
      Acquirer acquirer,
      Map<String, Resource> resources) {
    this.world = world;
    this.host = host;
    this.clock = clock;
    this.acquirer = acquirer;
    this.resources = resources;
  }

  Host host() {
    return host;
  }

  /** The key of the lock that it holds by its own clock; null for none. */
  @Nullable String holds() {
    return host.isGone() || last == null || !last.isHeld() ? null : last.key();
  }

  /** Makes it release the lock if it holds it, and compete for it again. */
  void giveUp() {
    givesUp = true;
  }

  void start() {
    host.at(world.now() + world.between(0, 500), this::step);
  }

  private void step() {
    long next = acquirer.step();
    Optional<Lease> lease = acquirer.lease();
    if (lease.isPresent()) {
      if (last != lease.get()) {
        last = lease.get();
        resource(last).taken(last.fence());
      }
      work(last);
    }
    if (givesUp) {
      givesUp = false;
      acquirer.release();
    }
    long due = lease.isPresent() ? Math.min(next, clock.monotonicMillis() + 100) : next;
    host.at(Math.max(clock.trueMillis(due), world.now() + 1), this::step);
  }

  private Resource resource(Lease lease) {
    return Objects.requireNonNull(resources.get(lease.key()), lease.key());
  }

  /** Makes a correct write, which begins while the lock is held and ends before the lease. */
  private void work(Lease lease) {
    long remaining = lease.remaining().toMillis();
    if (remaining == 0) {
      return;
    }
    Resource resource = resource(lease);
    resource.enter(host);
    // Its own clock may be slow, so it waits by that clock.
    long takes = world.between(0, Math.min(remaining - 1, WORK_MILLIS));
    long begun = clock.monotonicMillis();
    while (clock.monotonicMillis() < begun + takes) {
      host.pass(1);
    }
    resource.write(host, lease.fence());
    resource.leave(host);
  }
}
