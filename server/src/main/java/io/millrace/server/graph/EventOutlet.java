package io.millrace.server.graph;

import java.io.IOException;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;

/** Where a stream of changes goes. For use by one thread. */
interface EventOutlet {
  /**
   * Tells something.
   *
   * @param version of the graph after it
   * @param content writes one JSON value
   */
  void message(long version, Consumer<JsonGenerator> content) throws IOException;

  /** Shows that the stream goes on though nothing happens. */
  void sign() throws IOException;

  /** Sends what was written. */
  void flush() throws IOException;

  /** Tells that changes were lost, so that the stream ends. */
  void lost(String reason) throws IOException;
}
