package io.millrace.graph.store;

import io.millrace.graph.GraphAccess;
import io.millrace.graph.GraphRegistryContract;
import java.nio.file.Path;

class StoredGraphRegistryTest extends GraphRegistryContract {
  @Override
  protected GraphAccess open(Path folder) {
    return new GraphFixture(folder);
  }
}
