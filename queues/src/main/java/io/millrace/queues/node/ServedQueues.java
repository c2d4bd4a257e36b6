package io.millrace.queues.node;

import io.millrace.queues.NodeConfig;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.work.DueTimes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The queues that a node serves, in turn, and which of them may have tasks to claim. */
final class ServedQueues {
  private static final Logger LOG = LoggerFactory.getLogger(ServedQueues.class);

  private final String node;
  private final List<Queue> served = new ArrayList<>();
  private final Set<ObjectId> due = new HashSet<>();

  private final Set<String> complained = new HashSet<>();
  private final Set<String> unknown = new HashSet<>();
  private int turn;

  ServedQueues(String node) {
    this.node = node;
  }

  /** Decides again which queues to serve; all of them may have tasks then. */
  void reload(List<Queue> all, NodeConfig config, Plugins plugins) {
    served.clear();
    due.clear();
    sayUnknown(all, config);
    Set<String> missing = new HashSet<>();
    for (Queue queue : all) {
      if (!config.serves(node, queue)) {
        continue;
      }
      if (!plugins.has(queue.plugin())) {
        String complaint = queue.id() + " " + queue.plugin();
        missing.add(complaint);
        if (complained.add(complaint)) {
          LOG.warn(
              "queue {} is ignored: node {} has no plugin {}", queue.name(), node, queue.plugin());
        }
        continue;
      }
      served.add(queue);
      if (complained.contains(queue.id() + " " + queue.plugin())) {
        LOG.info("queue {} is served: plugin {} was found", queue.name(), queue.plugin());
      }
    }
    complained.retainAll(missing);
    served.forEach(queue -> ring(queue.id()));
  }

  /**
   * Warns about names of unknown queues: with a mistyped name, a queue may be served by no node, or
   * by one that should not.
   */
  private void sayUnknown(List<Queue> all, NodeConfig config) {
    Set<String> known = new HashSet<>();
    for (Queue queue : all) {
      known.add(queue.id().hex());
      known.add(queue.name());
    }
    Set<String> now = new LinkedHashSet<>();
    for (String name : config.activeQueues()) {
      if (!known.contains(name)) {
        now.add("activequeues names " + name);
      }
    }
    for (String name : config.ignoreQueues()) {
      if (!known.contains(name)) {
        now.add("ignorequeues names " + name);
      }
    }
    for (String each : now) {
      if (unknown.add(each)) {
        LOG.warn("the configuration of node {}: {}, and there is no such queue", node, each);
      }
    }
    unknown.retainAll(now);
  }

  /** A queue may have tasks to claim. */
  void ring(ObjectId queue) {
    find(queue)
        .filter(known -> known.settings().limit() > 0 && !known.health().isSuspendedOn(node))
        .ifPresent(_ -> due.add(queue));
  }

  /** Every queue may have tasks to claim. */
  void ringAll() {
    served.forEach(queue -> ring(queue.id()));
  }

  /** Rings for queues whose delayed tasks can be claimed now; returns whether there are any. */
  boolean ringDue(DueTimes<ObjectId> times, long nowNanos) {
    List<ObjectId> now = times.due(nowNanos);
    now.forEach(this::ring);
    return !now.isEmpty();
  }

  /** All queues that are served. */
  List<Queue> all() {
    return List.copyOf(served);
  }

  /** A queue has no tasks to claim until its bell rings. */
  void exhausted(ObjectId queue) {
    due.remove(queue);
  }

  /** Whether no queue is served. */
  boolean isEmpty() {
    return served.isEmpty();
  }

  /** How many queues may have tasks to claim. */
  int dueCount() {
    return due.size();
  }

  Optional<Queue> find(ObjectId id) {
    return served.stream().filter(queue -> queue.id().equals(id)).findFirst();
  }

  /** The next queue in turn; each queue that is due has a turn before any has a second one. */
  Optional<Queue> next() {
    for (int i = 0; i < served.size(); i++) {
      Queue queue = served.get((turn + i) % served.size());
      if (due.contains(queue.id())) {
        turn = (turn + i + 1) % served.size();
        return Optional.of(queue);
      }
    }
    return Optional.empty();
  }
}
