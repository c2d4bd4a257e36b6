package io.millrace.server.graph;

import io.millrace.graph.GraphAccess;
import io.millrace.graph.GraphRegistryContract;
import java.nio.file.Path;

final class HttpGraphRegistryTest extends GraphRegistryContract {
  @Override
  protected GraphAccess open(Path folder) {
    return new HttpGraph(folder);
  }
}
