package io.millrace.server.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.millrace.http.Route;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueuesException;
import io.millrace.queues.Run;
import io.millrace.queues.registry.AttemptWatch;
import io.millrace.queues.registry.AttemptWatch.End;
import io.millrace.queues.registry.Queues;
import io.millrace.server.Part;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StoreException;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The figures of queues and of their execution nodes. The numbers of tasks are those that the store
 * keeps for each group, so a scrape does not read tasks. Safe for use by threads.
 */
public final class QueueFigures implements Part {
  private static final Logger LOG = LoggerFactory.getLogger(QueueFigures.class);

  private final Queues queues;
  private final EmbeddedTaskStore store;
  private volatile @Nullable AttemptWatch attempts;
  private volatile @Nullable Shown shown;

  /** The figures of these queues, which are in {@code store}. */
  public QueueFigures(Queues queues, EmbeddedTaskStore store) {
    this.queues = queues;
    this.store = store;
  }

  @Override
  public List<Route> routes() {
    return List.of();
  }

  @Override
  public Runnable measure(MeterRegistry registry) {
    Shown figures = new Shown(registry);
    shown = figures;
    return () -> refresh(figures);
  }

  @Override
  public List<Level> levels() {
    long waiting = 0;
    long running = 0;
    for (Queue.Load load : queues.queues().loads(queues.queues().all(), Map.of())) {
      waiting += load.waiting() + load.delayed();
      running += load.active();
    }
    return List.of(new Level("tasks", waiting, running));
  }

  @Override
  public void start(String url) {
    Shown figures = shown;
    if (figures != null) {
      attempts = queues.attempts(figures);
    }
  }

  @Override
  public void close() {
    AttemptWatch watch = attempts;
    if (watch != null) {
      watch.close();
    }
  }

  /** Reads the figures again. If the store has stopped, the last ones stay. */
  private synchronized void refresh(Shown figures) {
    AttemptWatch watch = attempts;
    try {
      figures.readQueues();
      figures.readNodes(watch == null ? Map.of() : watch.activeByNode());
    } catch (QueuesException | StoreException e) {
      LOG.debug("no figures of queues", e);
    }
  }

  /** The figures in a registry. */
  private final class Shown implements AttemptWatch.Observer {
    private final MeterRegistry registry;
    private final SeriesLabels queueLabels = new SeriesLabels();
    private final SeriesLabels nodeLabels = new SeriesLabels();
    private final GaugeTable tasks;
    private final GaugeTable oldest;
    private final GaugeTable limits;
    private final GaugeTable nodes;
    private final GaugeTable active;
    private final Map<ObjectId, String> names = new ConcurrentHashMap<>();
    private final Map<String, OfQueue> byQueue = new HashMap<>();
    private final Map<String, OfNode> byNode = new HashMap<>();

    Shown(MeterRegistry registry) {
      this.registry = registry;
      this.tasks =
          GaugeTable.counts(registry, "millrace.queue.tasks", "Tasks of queues in the store");
      this.oldest =
          GaugeTable.ages(
              registry,
              "millrace.queue.oldest",
              "For how long the longest waiting task of a queue could have been claimed; 0 if none"
                  + " waits");
      this.limits =
          GaugeTable.counts(
              registry,
              "millrace.queue.limit",
              "How many tasks of a queue may be active at a time");
      this.nodes = GaugeTable.counts(registry, "millrace.nodes", "Execution nodes");
      this.active =
          GaugeTable.counts(
              registry, "millrace.node.tasks", "Tasks that an execution node has claimed or runs");
    }

    void readQueues() {
      List<Queue> all = queues.queues().all();
      List<Queue.Load> loads = queues.queues().loads(all, store.oldestWaiting());
      long nowMillis = store.status().timeMillis();
      names.clear();
      for (int i = 0; i < all.size(); i++) {
        Queue queue = all.get(i);
        Queue.Load load = loads.get(i);
        names.put(queue.id(), queue.name());
        String label = queueLabels.of(queue.name());
        tasks.put(load.waiting(), "queue", label, "state", "waiting");
        tasks.put(load.delayed(), "queue", label, "state", "delayed");
        tasks.put(load.active(), "queue", label, "state", "active");
        tasks.put(load.held(), "queue", label, "state", "held");
        tasks.put(load.finished(), "queue", label, "state", "finished");
        oldest.put(load.waitedMillis(nowMillis), "queue", label);
        limits.put(queue.settings().limit(), "queue", label);
      }
      tasks.show();
      oldest.show();
      limits.show();
    }

    void readNodes(Map<String, Long> tasksOf) {
      var read = queues.nodes().list();
      Map<NodeRecord.State, Long> states = new EnumMap<>(NodeRecord.State.class);
      for (NodeRecord node : read.value()) {
        states.merge(node.stateAt(read.timeMillis()), 1L, Long::sum);
        active.put(tasksOf.getOrDefault(node.name(), 0L), "node", nodeLabels.of(node.name()));
      }
      for (NodeRecord.State state : NodeRecord.State.values()) {
        nodes.put(states.getOrDefault(state, 0L), "state", state.name().toLowerCase(Locale.ROOT));
      }
      nodes.show();
      active.show();
    }

    private String label(ObjectId queue) {
      String name =
          names.computeIfAbsent(
              queue, id -> queues.queues().find(id).map(Queue::name).orElse(SeriesLabels.OTHER));
      return queueLabels.of(name);
    }

    @Override
    public void startedFirst(Run run, long waitedMillis) {
      of(run).waited.record(waitedMillis, TimeUnit.MILLISECONDS);
    }

    @Override
    public void ended(Run run, End end, long ranMillis) {
      OfQueue figures = of(run);
      Counter counter = figures.ends.get(end);
      if (counter != null) {
        counter.increment();
      }
      if (ranMillis >= 0) {
        figures.ran.record(ranMillis, TimeUnit.MILLISECONDS);
      }
      byNode
          .computeIfAbsent(nodeLabels.of(run.node()), node -> new OfNode(registry, node))
          .ended(end, ranMillis);
    }

    private OfQueue of(Run run) {
      return byQueue.computeIfAbsent(label(run.queue()), label -> new OfQueue(registry, label));
    }
  }

  /** The attempts of one queue, since the start of the server. */
  private static final class OfQueue {
    private final Timer waited;
    private final Timer ran;
    private final Map<End, Counter> ends = new EnumMap<>(End.class);

    OfQueue(MeterRegistry registry, String queue) {
      this.waited =
          Buckets.wait("millrace.queue.wait")
              .description("From the creation of a task to the start of its first attempt")
              .tag("queue", queue)
              .register(registry);
      this.ran =
          Buckets.run("millrace.queue.run")
              .description("From the start of an attempt at a task to its end")
              .tag("queue", queue)
              .register(registry);
      for (End end : End.values()) {
        ends.put(
            end,
            Counter.builder("millrace.queue.attempts")
                .description("Attempts at tasks of queues that have ended")
                .tag("queue", queue)
                .tag("outcome", end.word())
                .register(registry));
      }
    }
  }

  /** The attempts on one execution node, since the start of the server. */
  private static final class OfNode {
    private final MeterRegistry registry;
    private final String node;
    private final Timer ran;
    private final Map<End, Counter> ends = new EnumMap<>(End.class);

    OfNode(MeterRegistry registry, String node) {
      this.registry = registry;
      this.node = node;
      this.ran =
          Buckets.run("millrace.node.run")
              .description("From the start of an attempt on an execution node to its end")
              .tag("node", node)
              .register(registry);
    }

    void ended(End end, long ranMillis) {
      ends.computeIfAbsent(
              end,
              _ ->
                  Counter.builder("millrace.node.attempts")
                      .description("Attempts at tasks on an execution node that have ended")
                      .tag("node", node)
                      .tag("outcome", end.word())
                      .register(registry))
          .increment();
      if (ranMillis >= 0) {
        ran.record(ranMillis, TimeUnit.MILLISECONDS);
      }
    }
  }
}
