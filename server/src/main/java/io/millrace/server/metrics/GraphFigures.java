package io.millrace.server.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphWork;
import io.millrace.graph.Kill;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Outcome;
import io.millrace.graph.Phase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The figures of the graph. Safe for use by threads. */
public final class GraphFigures {
  private static final String ENDS = "millrace.graph.ends";

  /** How far above a node its graph's name is looked for. */
  private static final int LEVELS = 100;

  private final GraphRegistry graph;
  private final MeterRegistry registry;
  private final SeriesLabels graphs = new SeriesLabels();
  private final Timer lag;
  private final SeriesLabels types = new SeriesLabels();
  private final GaugeTable oldest;
  private volatile @Nullable GraphWork measured;

  private GraphFigures(GraphRegistry graph, MeterRegistry registry) {
    this.graph = graph;
    this.registry = registry;
    this.oldest =
        GaugeTable.ages(
            registry,
            "millrace.graph.oldest",
            "For how long the first ready node of a type could have been started");
    this.lag =
        Timer.builder("millrace.graph.start.lag")
            .description("From a change of the graph to the starts that follow from it")
            .serviceLevelObjectives(
                Duration.ofMillis(1),
                Duration.ofMillis(10),
                Duration.ofMillis(100),
                Duration.ofSeconds(1),
                Duration.ofSeconds(10))
            .register(registry);
  }

  /** Shows the figures for as long as the returned object is held. */
  public static GraphFigures show(GraphRegistry graph, MeterRegistry registry) {
    GraphFigures figures = new GraphFigures(graph, registry);
    for (NodeState state : NodeState.values()) {
      Gauge.builder("millrace.graph.nodes", graph, it -> it.counts().getOrDefault(state, 0L))
          .description("Nodes of the graph")
          .tag("state", state.word())
          .register(registry);
    }
    figures.starts("");
    for (String outcome : new String[] {"finished", "failed", "again", "killed"}) {
      figures.ends(outcome, "");
    }
    return figures;
  }

  private Counter starts(String of) {
    return Counter.builder("millrace.graph.starts")
        .description("Attempts at graph nodes that were begun")
        .tag("graph", of)
        .register(registry);
  }

  private Counter ends(String outcome, String of) {
    return Counter.builder(ENDS)
        .description("Attempts at graph nodes that have ended")
        .tag("outcome", outcome)
        .tag("graph", of)
        .register(registry);
  }

  /**
   * The label of the graph of a node: the name of the node below the root that is above it, by
   * first parents; empty if that has no name.
   */
  private String graphOf(GraphNode node) {
    GraphNode top = node;
    for (int level = 0; !top.definition().parents().isEmpty(); level++) {
      GraphNode above = graph.node(top.definition().parents().getFirst()).orElse(null);
      if (above == null || level == LEVELS) {
        return SeriesLabels.OTHER;
      }
      top = above;
    }
    String name = top.name();
    return name == null ? "" : graphs.of(name);
  }

  /** Reads the ages of what is ready again. */
  public synchronized void refresh() {
    GraphWork work = measured;
    if (work != null) {
      long nowMillis = System.currentTimeMillis();
      types.own().forEach(type -> oldest.put(0, "type", type));
      work.oldestReady()
          .forEach(
              (type, since) -> oldest.put(Math.max(0, nowMillis - since), "type", types.of(type)));
      oldest.show();
    }
  }

  /** The same work; its starts and ends are counted. */
  public GraphWork measure(GraphWork work) {
    measured = work;
    return new MeasuredWork(work, this);
  }

  void started(GraphNode node) {
    starts(graphOf(node)).increment();
  }

  void waited(GraphNode node, @Nullable Long sinceMillis) {
    if (sinceMillis != null && node.phase() instanceof Phase.Running running) {
      Buckets.wait("millrace.graph.wait")
          .description("From the time at which a node could start to its start")
          .tag("type", types.of(node.definition().type()))
          .register(registry)
          .record(Math.max(0, running.startedMillis() - sinceMillis), TimeUnit.MILLISECONDS);
    }
  }

  void ran(GraphNode node) {
    if (node.phase() instanceof Phase.Running running) {
      Buckets.run("millrace.graph.run")
          .description("From the start of an attempt at a node to its end")
          .tag("type", types.of(node.definition().type()))
          .register(registry)
          .record(
              Math.max(0, System.currentTimeMillis() - running.startedMillis()),
              TimeUnit.MILLISECONDS);
    }
  }

  void lagged(long nanos) {
    lag.record(Duration.ofNanos(nanos));
  }

  void ended(Outcome outcome, @Nullable GraphNode node) {
    ends(
            switch (outcome) {
              case Outcome.Finished _ -> "finished";
              case Outcome.Failed _ -> "failed";
              case Outcome.Again _ -> "again";
              case Outcome.Killed _ -> "killed";
            },
            node == null ? SeriesLabels.OTHER : graphOf(node))
        .increment();
  }

  /** Counts the starts and ends that a scheduler requests, and their lag. */
  private static final class MeasuredWork implements GraphWork {
    private static final long NONE = 0;

    private final GraphWork work;
    private final GraphFigures figures;

    /** The time of the first change since the scheduler last went through its work. */
    private final AtomicLong changed = new AtomicLong(NONE);

    /** The running nodes as they were when they started. */
    private final Map<NodeId, GraphNode> attempts = new ConcurrentHashMap<>();

    MeasuredWork(GraphWork work, GraphFigures figures) {
      this.work = work;
      this.figures = figures;
    }

    @Override
    public List<GraphNode> ready(String type, int most, long nowMillis) {
      return work.ready(type, most, nowMillis);
    }

    /** A scheduler asks for this last, when it has started all nodes for which there is room. */
    @Override
    public OptionalLong nextDueMillis() {
      changed.set(NONE);
      return work.nextDueMillis();
    }

    @Override
    public void expire(long nowMillis) {
      work.expire(nowMillis);
    }

    @Override
    public Map<NodeId, Long> readySince(List<NodeId> ids) {
      return work.readySince(ids);
    }

    @Override
    public Map<String, Long> oldestReady() {
      return work.oldestReady();
    }

    @Override
    public List<Item> running() {
      List<Item> running = work.running();
      running.forEach(item -> attempts.put(item.node().id(), item.node()));
      return running;
    }

    @Override
    public Map<NodeId, Kill> killing() {
      return work.killing();
    }

    @Override
    public List<Item> start(List<NodeId> ids) {
      Map<NodeId, Long> since = work.readySince(ids);
      List<Item> started = work.start(ids);
      for (Item item : started) {
        attempts.put(item.node().id(), item.node());
        figures.waited(item.node(), since.get(item.node().id()));
        figures.started(item.node());
      }
      long changedNanos = changed.getAndSet(NONE);
      if (!started.isEmpty() && changedNanos != NONE) {
        figures.lagged(System.nanoTime() - changedNanos);
      }
      return started;
    }

    @Override
    public void end(List<Ended> ended) {
      work.end(ended);
      for (Ended each : ended) {
        GraphNode node = attempts.remove(each.id());
        figures.ended(each.outcome(), node);
        if (node != null) {
          figures.ran(node);
        }
      }
    }

    @Override
    public Permits permits() {
      return work.permits();
    }

    @Override
    public void readOutputsFrom(Outputs outputs) {
      work.readOutputsFrom(outputs);
    }

    @Override
    public void onChange(Runnable wake) {
      work.onChange(() -> {
        changed.compareAndSet(NONE, System.nanoTime());
        wake.run();
      });
    }
  }
}
