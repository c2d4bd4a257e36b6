package io.millrace.graph;

import io.millrace.graph.GraphException.VersionLostException;
import java.time.Duration;
import java.util.List;

/** A stream of changes, each once and in order; for one thread, to be closed. */
public interface GraphChanges extends AutoCloseable {
  /**
   * The changes since the last call; waits for one if there are none.
   *
   * @param timeout how long to wait at most
   * @return durable changes, oldest first; empty if the time is over
   * @throws VersionLostException if this stream is so far behind that changes were lost
   */
  List<GraphEvent> next(Duration timeout) throws InterruptedException;

  @Override
  void close();

  /**
   * One change.
   *
   * @param version the version of the graph after it, after which a subscription can go on
   * @param changed the nodes that were added or changed, or whose state changed, as they were then
   * @param removed the nodes that were removed
   */
  public record GraphEvent(long version, List<GraphNode> changed, List<GraphNode> removed) {
    public GraphEvent {
      changed = List.copyOf(changed);
      removed = List.copyOf(removed);
    }
  }
}
