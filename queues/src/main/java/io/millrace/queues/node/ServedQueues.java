package io.millrace.queues.node;

import io.millrace.queues.NodeConfig;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The queues that a node serves, in turn, and which of them may have something to claim. */
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

  /** Decides anew which queues to serve; all of them may have something then. */
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

  /** A name that is mistyped would leave its queue without a node, or another served after all. */
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

  /** A queue may have something to claim. */
  void ring(ObjectId queue) {
    find(queue)
        .filter(known -> known.settings().limit() > 0 && !known.health().isSuspendedOn(node))
        .ifPresent(_ -> due.add(queue));
  }

  /** Every queue may have something to claim. */
  void ringAll() {
    served.forEach(queue -> ring(queue.id()));
  }

  /** A queue has nothing to claim until its bell rings. */
  void exhausted(ObjectId queue) {
    due.remove(queue);
  }

  /** Whether no queue is served. */
  boolean isEmpty() {
    return served.isEmpty();
  }

  /** How many queues may have something to claim. */
  int dueCount() {
    return due.size();
  }

  Optional<Queue> find(ObjectId id) {
    return served.stream().filter(queue -> queue.id().equals(id)).findFirst();
  }

  /** The queue whose turn it is; each one that is due gets its turn before any gets a second. */
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
