package io.millrace.graph;

import io.millrace.graph.GraphException.VersionLostException;
import java.time.Duration;
import java.util.List;

/** A stream of changes, each once and in order; for one thread, to be closed. */
public interface GraphChanges extends AutoCloseable {
  /**
   * What has happened since the last call, waiting for something where nothing has.
   *
   * @param timeout how long to wait at most
   * @return durable changes, oldest first; empty where the time is over
   * @throws VersionLostException when this stream is so far behind that changes were lost
   */
  List<GraphEvent> next(Duration timeout) throws InterruptedException;

  @Override
  void close();
}
