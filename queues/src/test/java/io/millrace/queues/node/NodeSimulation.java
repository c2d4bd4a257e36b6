package io.millrace.queues.node;

import java.time.Duration;

/**
 * A hundred nodes and one store in virtual time. Nodes are killed at any call of the store, stand
 * still and start again; runners die; lines break, answers are lost; the server goes and comes
 * back. All of it follows from one seed.
 */
final class NodeSimulation {
  private static final long TROUBLE_NANOS = Duration.ofSeconds(25).toNanos();
  private static final long END_NANOS = Duration.ofSeconds(400).toNanos();
  private static final long LEAST_STEP_NANOS = 5_000_000;

  private final NodeChecks checks = new NodeChecks();
  private final SimulatedSite site;
  private final Mischief mischief;

  NodeSimulation(long seed) {
    site = new SimulatedSite(seed, checks);
    mischief = new Mischief(site, checks);
  }

  void run() {
    long nextOperation = 0;
    long nextSweep = 0;
    while (site.isInTrouble() || !checks.allHaveEnded()) {
      long now = site.nanos();
      if (site.isInTrouble() && now > TROUBLE_NANOS) {
        mischief.endTrouble();
      }
      Referee.require(now < END_NANOS, "not all tasks end: " + checks.statuses());
      if (now >= nextOperation) {
        nextOperation = now + site.random().nextLong(1, 150_000_000);
        if (site.isInTrouble()) {
          mischief.operate();
        }
      }
      site.bringBack();
      if (now >= nextSweep && !site.isDown()) {
        nextSweep = now + 1_000_000_000L;
        site.sweep();
        if (!site.isInTrouble()) {
          mischief.resumeQueues();
        }
      }
      site.stepAll(now);
      site.deliver();
      long next = Math.min(Math.min(nextOperation, nextSweep), site.dueNanos());
      site.advance(Duration.ofNanos(Math.max(next - now, LEAST_STEP_NANOS)));
    }
  }

  String summary() {
    return checks.summary() + ", " + site.nanos() / 1_000_000_000L + " s";
  }
}
