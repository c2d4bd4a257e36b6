package io.millrace.queues.node;

import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.QueueBackend;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The name of a node: taken once it is free, refreshed, given back.
 *
 * <p>A name is free if no process has it, if the process that has it is on this machine and gone,
 * or if its record was not refreshed for five seconds in which the store could be read all the
 * time: a node must not lose its name because the store could not be reached.
 */
final class NodeName {
  private static final Logger LOG = LoggerFactory.getLogger(NodeName.class);
  private static final long LONGEST_GAP_NANOS = 2_000_000_000L;

  private final QueueBackend.Nodes nodes;
  private final NodeOptions options;
  private final Machine machine;
  private @Nullable NodeRecord record;
  private @Nullable NodeIdentity predecessor;
  private long watchedVersion = -1;
  private long watchedSinceNanos;
  private long lastLookNanos;
  private boolean said;

  NodeName(QueueBackend.Nodes nodes, NodeOptions options, Machine machine) {
    this.nodes = nodes;
    this.options = options;
    this.machine = machine;
  }

  /** The node as it was last seen in the store; null before the name was taken. */
  @Nullable NodeRecord record() {
    return record;
  }

  /** The process that had the name before; null if the name had been given back. */
  @Nullable NodeIdentity predecessor() {
    return predecessor;
  }

  /** Takes the name if it is free; returns whether this node has it now. */
  boolean take(long nowNanos, Set<String> plugins) {
    @Nullable NodeRecord seen = nodes.find(options.name()).orElse(null);
    if (!isFree(seen, nowNanos)) {
      return false;
    }
    // An answer that was lost: the name is ours already, and we know who had it before.
    if (seen == null || !seen.isHeldBy(options.instance())) {
      predecessor = seen == null ? null : seen.presence();
    }
    record = nodes.take(options.name(), seen, presence(plugins)).orElse(null);
    return record != null;
  }

  private boolean isFree(@Nullable NodeRecord seen, long nowNanos) {
    NodeIdentity holder = seen == null ? null : seen.presence();
    if (seen == null || holder == null || seen.isHeldBy(options.instance())) {
      return true;
    }
    if (holder.host().equals(machine.host()) && !machine.isAlive(holder.process())) {
      return true;
    }
    if (seen.place().version() != watchedVersion || nowNanos - lastLookNanos > LONGEST_GAP_NANOS) {
      watchedVersion = seen.place().version();
      watchedSinceNanos = nowNanos;
    }
    lastLookNanos = nowNanos;
    if (!said) {
      said = true;
      LOG.warn(
          "another node is named {} already, on {} with process {}; waiting until it has ended, or"
              + " start this one with another name",
          options.name(),
          holder.host(),
          holder.process().split(" ", 2)[0]);
    }
    return nowNanos - watchedSinceNanos >= NodeRecord.SILENCE.toNanos();
  }

  /** Refreshes the record; empty if this node no longer has the name. */
  Optional<NodeRecord> refresh(NodeRecord held, Set<String> plugins) {
    Optional<NodeRecord> now = nodes.refresh(held, presence(plugins));
    now.ifPresent(fresh -> record = fresh);
    return now;
  }

  /** Gives the name back, if this node has it. */
  void leave() {
    if (record != null) {
      nodes.leave(record, options.instance());
    }
  }

  private NodeIdentity presence(Set<String> plugins) {
    return new NodeIdentity(
        options.instance(), machine.host(), machine.process(), List.copyOf(new TreeSet<>(plugins)));
  }
}
