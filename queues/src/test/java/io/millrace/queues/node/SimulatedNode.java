package io.millrace.queues.node;

import io.millrace.queues.registry.Queues;
import io.millrace.store.Commit;
import io.millrace.work.Step;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** A node of the simulation on its host, through its deaths and starts. */
final class SimulatedNode {
  static final Set<String> PLUGINS = Set.of("work", "other");

  private final String name;
  private final SimulatedHost host;
  private final Queues queues;
  private final LongSupplier nanos;
  private final RandomGenerator random;
  private @Nullable ExecutionNode node;
  private long dueNanos;
  private boolean busy;
  private boolean hears = true;
  private int starts;

  SimulatedNode(
      String name, SimulatedHost host, Queues queues, LongSupplier nanos, RandomGenerator random) {
    this.name = name;
    this.host = host;
    this.queues = queues;
    this.nanos = nanos;
    this.random = random;
  }

  SimulatedHost host() {
    return host;
  }

  boolean isAlive() {
    return node != null;
  }

  boolean isBusy() {
    return busy;
  }

  long dueNanos() {
    return node == null || busy ? Long.MAX_VALUE : dueNanos;
  }

  void start(Duration lease) {
    starts++;
    NodeOptions options =
        NodeOptions.of(name, host.host() + "-" + starts + "-" + random.nextInt()).withLease(lease);
    ExecutionNode fresh =
        new ExecutionNode(options, queues, host.nodeStarts(), () -> PLUGINS, host);
    node = fresh;
    hears = true;
    dueNanos = nanos.getAsLong();
    // ExecutionNode.News come over a network.
    fresh.wakeBy(
        () -> dueNanos = Math.min(dueNanos, nanos.getAsLong() + random.nextLong(20_000_000)));
  }

  void die() {
    node = null;
    host.nodeDies();
  }

  /** It ends in order. */
  void stop() {
    if (node != null) {
      node.stop();
    }
  }

  /** Its process stands still for a while. */
  void pause(Duration time) {
    dueNanos = nanos.getAsLong() + time.toNanos();
    if (node != null) {
      node.wakeBy(() -> {});
    }
  }

  /** The news stop, or come again. */
  void hears(boolean on) {
    hears = on;
    if (on && node != null) {
      node.subscribed();
    }
  }

  boolean hears() {
    return hears;
  }

  void notice(Commit commit) {
    if (node != null && hears) {
      node.notice(commit);
    }
  }

  void step() {
    ExecutionNode living = node;
    if (living == null) {
      return;
    }
    busy = true;
    dueNanos = Long.MAX_VALUE;
    try {
      long now = nanos.getAsLong();
      Instant due = living.step(Instant.EPOCH.plusNanos(now));
      if (due.equals(Step.FINISHED)) {
        die();
      } else {
        // A step takes some time.
        dueNanos = Math.min(dueNanos, Math.max(NodeWorld.nanos(due), now + 100_000));
      }
    } catch (NodeKilled _) {
      die();
    } finally {
      busy = false;
    }
  }

  /** The process ends between two steps of its program. */
  static final class NodeKilled extends Error {
    private static final long serialVersionUID = 1;
  }
}
