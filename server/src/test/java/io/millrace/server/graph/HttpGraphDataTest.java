package io.millrace.server.graph;

import io.millrace.graph.GraphAccess;
import io.millrace.graph.GraphDataContract;
import java.nio.file.Path;

final class HttpGraphDataTest extends GraphDataContract {
  @Override
  protected GraphAccess open(Path folder) {
    return new HttpGraph(folder);
  }
}
