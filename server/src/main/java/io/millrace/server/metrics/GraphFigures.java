package io.millrace.server.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.millrace.graph.GraphGroups;
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
  private static final String GRAPH = "graph";
  private static final String TYPE = "type";

  /** The label of graphs without a name. */
  private static final String NAMELESS = "";

  /** The pause after a reading, as a multiple of its time: after a move all nodes are counted. */
  private static final int REST = 20;

  private final MeterRegistry registry;
  private final GraphGroups groups;
  private final Timer lag;
  private final SeriesLabels types = new SeriesLabels();
  private final GaugeTable nodes;
  private final GaugeTable oldest;
  private long restUntilNanos = System.nanoTime();

  private GraphFigures(GraphRegistry graph, MeterRegistry registry) {
    this.registry = registry;
    SeriesLabels names = new SeriesLabels();
    this.groups =
        graph.groups(name -> name.isEmpty() ? NAMELESS : names.of(name), SeriesLabels.OTHER);
    this.nodes = GaugeTable.counts(registry, "millrace.graph.nodes", "Nodes of the graph");
    this.oldest =
        GaugeTable.ages(
            registry,
            "millrace.graph.oldest",
            "For how long the first ready node of a type could have been started, by graph");
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
    figures.starts(NAMELESS);
    for (String outcome : new String[] {"finished", "failed", "again", "killed"}) {
      figures.ends(outcome, NAMELESS);
    }
    return figures;
  }

  private Counter starts(String of) {
    return Counter.builder("millrace.graph.starts")
        .description("Attempts at graph nodes that were begun")
        .tag(GRAPH, of)
        .register(registry);
  }

  private Counter ends(String outcome, String of) {
    return Counter.builder(ENDS)
        .description("Attempts at graph nodes that have ended")
        .tag("outcome", outcome)
        .tag(GRAPH, of)
        .register(registry);
  }

  /** Reads the nodes by graph again. */
  public synchronized void refresh() {
    long begun = System.nanoTime();
    if (begun - restUntilNanos < 0) {
      return;
    }
    GraphGroups.Load load = groups.load();
    long now = System.nanoTime();
    restUntilNanos = now + REST * (now - begun);
    showNodes(NAMELESS, load.counts().getOrDefault(NAMELESS, Map.of()));
    load.counts()
        .forEach((label, counts) -> {
          if (!label.equals(NAMELESS) && counts.values().stream().anyMatch(count -> count > 0)) {
            showNodes(label, counts);
          }
        });
    nodes.show();
    long nowMillis = System.currentTimeMillis();
    types.own().forEach(type -> oldest.put(0, TYPE, type, GRAPH, NAMELESS));
    load.oldestReady()
        .forEach((group, since) ->
            oldest.put(
                Math.max(0, nowMillis - since),
                TYPE,
                types.of(group.type()),
                GRAPH,
                group.graph()));
    oldest.show();
  }

  private void showNodes(String label, Map<NodeState, Long> counts) {
    for (NodeState state : NodeState.values()) {
      nodes.put(counts.getOrDefault(state, 0L), "state", state.word(), GRAPH, label);
    }
  }

  /** The same work; its starts and ends are counted. */
  public GraphWork measure(GraphWork work) {
    return new MeasuredWork(work, this);
  }

  void started(GraphNode node, @Nullable Long sinceMillis) {
    String label = groups.labelOf(node);
    starts(label).increment();
    if (sinceMillis != null && node.phase() instanceof Phase.Running running) {
      record(
          Buckets.wait("millrace.graph.wait")
              .description("From the time at which a node could start to its start"),
          node,
          label,
          running.startedMillis() - sinceMillis);
    }
  }

  private void record(Timer.Builder timer, GraphNode node, String label, long millis) {
    timer
        .tag(TYPE, types.of(node.definition().type()))
        .tag(GRAPH, label)
        .register(registry)
        .record(Math.max(0, millis), TimeUnit.MILLISECONDS);
  }

  void lagged(long nanos) {
    lag.record(Duration.ofNanos(nanos));
  }

  /** Counts an end; {@code node} is the node as it was when the attempt was begun, if known. */
  void ended(Outcome outcome, @Nullable GraphNode node) {
    String label = node == null ? SeriesLabels.OTHER : groups.labelOf(node);
    ends(
            switch (outcome) {
              case Outcome.Finished _ -> "finished";
              case Outcome.Failed _ -> "failed";
              case Outcome.Again _ -> "again";
              case Outcome.Killed _ -> "killed";
            },
            label)
        .increment();
    if (node != null && node.phase() instanceof Phase.Running running) {
      record(
          Buckets.run("millrace.graph.run")
              .description("From the start of an attempt at a node to its end"),
          node,
          label,
          System.currentTimeMillis() - running.startedMillis());
    }
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
        figures.started(item.node(), since.get(item.node().id()));
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
        figures.ended(each.outcome(), attempts.remove(each.id()));
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
