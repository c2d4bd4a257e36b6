package io.millrace.graph;

import io.millrace.graph.GraphException.VersionLostException;
import java.time.Duration;
import java.util.List;

/** A stream of changes, each once and in order; for one thread, to be closed. */
public interface GraphChanges extends AutoCloseable {
  /**
   * What has happened since the last call, waiting for something if nothing has.
   *
   * @param timeout how long to wait at most
   * @return durable changes, oldest first; empty if the time is over
   * @throws VersionLostException when this stream is so far behind that changes were lost
   */
  List<GraphEvent> next(Duration timeout) throws InterruptedException;

  @Override
  void close();

  /**
   * What one change did.
   *
   * @param version that of the graph after it, by which a subscription can go on
   * @param changed the nodes that were added or changed or whose state was, as they were then
   * @param removed those that are gone
   */
  public record GraphEvent(long version, List<GraphNode> changed, List<GraphNode> removed) {
    /** Copies the lists. */
    public GraphEvent {
      changed = List.copyOf(changed);
      removed = List.copyOf(removed);
    }
  }
}
