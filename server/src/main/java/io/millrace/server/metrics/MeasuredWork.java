package io.millrace.server.metrics;

import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphWork;
import io.millrace.graph.Kill;
import io.millrace.graph.NodeId;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/** Looks at what a scheduler asks of a graph. */
final class MeasuredWork implements GraphWork {
  private static final long NONE = 0;

  private final GraphWork work;
  private final GraphFigures figures;

  /** When the first change came after which the scheduler has not been through its work. */
  private final AtomicLong changed = new AtomicLong(NONE);

  MeasuredWork(GraphWork work, GraphFigures figures) {
    this.work = work;
    this.figures = figures;
  }

  @Override
  public List<GraphNode> ready(String type, int most, long nowMillis) {
    return work.ready(type, most, nowMillis);
  }

  /** The last question of a scheduler that has started all for which there is room. */
  @Override
  public OptionalLong nextDueMillis() {
    changed.set(NONE);
    return work.nextDueMillis();
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
