package io.millrace.server.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphWork;
import io.millrace.graph.Kill;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Outcome;
import io.millrace.store.StoreException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The figures of the graph. Its nodes are counted at a scrape, for up to a twentieth of the time.
 * Safe for use by threads.
 */
public final class GraphFigures {
  private static final Logger LOG = LoggerFactory.getLogger(GraphFigures.class);

  /** The pause after a count, as a multiple of the time that the count took. */
  private static final int REST = 20;

  private static final String ENDS = "millrace.graph.ends";

  private final GraphRegistry graph;
  private final MeterRegistry registry;
  private final Counter starts;
  private final Timer lag;
  private volatile Map<NodeState, Long> counts = Map.of();
  private long restUntilNanos = System.nanoTime();

  private GraphFigures(GraphRegistry graph, MeterRegistry registry) {
    this.graph = graph;
    this.registry = registry;
    this.starts =
        Counter.builder("millrace.graph.starts")
            .description("Attempts at graph nodes that were begun")
            .register(registry);
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
      Gauge.builder("millrace.graph.nodes", figures, it -> it.counts.getOrDefault(state, 0L))
          .description("Nodes of the graph")
          .tag("state", state.word())
          .register(registry);
    }
    for (String outcome : new String[] {"finished", "failed", "again", "killed"}) {
      figures.ends(outcome);
    }
    return figures;
  }

  private Counter ends(String outcome) {
    return Counter.builder(ENDS)
        .description("Attempts at graph nodes that have ended")
        .tag("outcome", outcome)
        .register(registry);
  }

  /** Counts again. If the store has stopped, the last figures stay. */
  public synchronized void refresh() {
    long begun = System.nanoTime();
    if (begun - restUntilNanos < 0) {
      return;
    }
    try {
      Map<NodeState, Long> now = new EnumMap<>(NodeState.class);
      for (GraphNode node : graph.snapshot(NodeFilter.ALL).nodes()) {
        now.merge(node.state(), 1L, Long::sum);
      }
      counts = now;
    } catch (StoreException e) {
      LOG.debug("no figures of the graph", e);
    }
    long ended = System.nanoTime();
    restUntilNanos = ended + REST * (ended - begun);
  }

  /** The same work; its starts and ends are counted. */
  public GraphWork measure(GraphWork work) {
    return new MeasuredWork(work, this);
  }

  void started(int count) {
    starts.increment(count);
  }

  void lagged(long nanos) {
    lag.record(Duration.ofNanos(nanos));
  }

  void ended(Outcome outcome) {
    ends(switch (outcome) {
          case Outcome.Finished _ -> "finished";
          case Outcome.Failed _ -> "failed";
          case Outcome.Again _ -> "again";
          case Outcome.Killed _ -> "killed";
        })
        .increment();
  }

  /** Counts the starts and ends that a scheduler requests, and their lag. */
  private static final class MeasuredWork implements GraphWork {
    private static final long NONE = 0;

    private final GraphWork work;
    private final GraphFigures figures;

    /** The time of the first change since the scheduler last went through its work. */
    private final AtomicLong changed = new AtomicLong(NONE);

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
    public List<Item> running() {
      return work.running();
    }

    @Override
    public Map<NodeId, Kill> killing() {
      return work.killing();
    }

    @Override
    public List<Item> start(List<NodeId> ids) {
      List<Item> started = work.start(ids);
      long since = changed.getAndSet(NONE);
      if (!started.isEmpty()) {
        figures.started(started.size());
        if (since != NONE) {
          figures.lagged(System.nanoTime() - since);
        }
      }
      return started;
    }

    @Override
    public void end(List<Ended> ended) {
      work.end(ended);
      ended.forEach(each -> figures.ended(each.outcome()));
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
