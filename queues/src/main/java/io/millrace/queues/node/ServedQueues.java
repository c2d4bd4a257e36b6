package io.millrace.queues.node;

import io.millrace.queues.NodeConfig;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The queues that a node serves, in turn, and which of them may have tasks to claim. */
final class ServedQueues {
  /** The most times at which a queue is to be looked at again that are kept. */
  static final int MOST_TIMES = 1_000;

  private static final Logger LOG = LoggerFactory.getLogger(ServedQueues.class);

  /** Times that are closer together are one, and all are rounded up to it. */
  private static final long TOGETHER_NANOS = 10_000_000;

  private final String node;
  private final List<Queue> served = new ArrayList<>();
  private final Set<ObjectId> due = new HashSet<>();

  /** When delayed tasks of queues can be claimed, in nanoseconds; none is empty. */
  private final Map<ObjectId, TreeSet<Long>> times = new HashMap<>();

  /** Queues that may have more delayed tasks than {@link #times} says. */
  private final Set<ObjectId> partly = new HashSet<>();

  private final Set<ObjectId> unread = new HashSet<>();
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

  /** A queue may have tasks to claim after this delay. */
  void ringLater(ObjectId queue, Duration delay, long nowNanos) {
    long at = nowNanos + delay.toNanos() + TOGETHER_NANOS;
    TreeSet<Long> all = times.computeIfAbsent(queue, _ -> new TreeSet<>());
    all.add(at - Math.floorMod(at, TOGETHER_NANOS) + TOGETHER_NANOS);
    if (all.size() > MOST_TIMES) {
      all.removeLast();
      partly.add(queue);
    }
  }

  /**
   * The store says when the next delayed tasks of a queue can be claimed.
   *
   * @param delays some or all of them; more are to be asked for afterwards if they are many, or the
   *     first one only says when to ask
   */
  void expect(ObjectId queue, List<Duration> delays, long nowNanos) {
    delays.forEach(delay -> ringLater(queue, delay, nowNanos));
    if (delays.size() == 1 || delays.size() >= MOST_TIMES) {
      partly.add(queue);
    }
  }

  /** Rings for the tasks that can be claimed now; returns whether there may be any. */
  boolean ringDue(long nowNanos) {
    boolean some = false;
    for (Iterator<Map.Entry<ObjectId, TreeSet<Long>>> each = times.entrySet().iterator();
        each.hasNext(); ) {
      Map.Entry<ObjectId, TreeSet<Long>> queue = each.next();
      if (queue.getValue().first() <= nowNanos) {
        queue.getValue().headSet(nowNanos, true).clear();
        ring(queue.getKey());
        some = true;
        if (queue.getValue().isEmpty()) {
          each.remove();
          if (partly.remove(queue.getKey())) {
            unread.add(queue.getKey());
          }
        }
      }
    }
    return some;
  }

  /** How long nothing becomes due by time alone. */
  long waitNanos(long nowNanos) {
    long first = Long.MAX_VALUE;
    for (TreeSet<Long> each : times.values()) {
      first = Math.min(first, Math.max(0, each.first() - nowNanos));
    }
    return first;
  }

  /** The queues of which the store is to be asked for delayed tasks, once. */
  List<Queue> unread() {
    List<Queue> some = served.stream().filter(queue -> unread.contains(queue.id())).toList();
    unread.clear();
    return some;
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
