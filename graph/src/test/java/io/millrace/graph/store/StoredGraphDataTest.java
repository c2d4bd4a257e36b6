package io.millrace.graph.store;

import io.millrace.graph.GraphAccess;
import io.millrace.graph.GraphDataContract;
import java.nio.file.Path;

class StoredGraphDataTest extends GraphDataContract {
  @Override
  protected GraphAccess open(Path folder) {
    return new GraphFixture(folder);
  }
}
