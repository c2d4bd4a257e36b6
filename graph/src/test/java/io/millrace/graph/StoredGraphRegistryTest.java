package io.millrace.graph;

import java.nio.file.Path;

class StoredGraphRegistryTest extends GraphRegistryContract {
  @Override
  protected GraphAccess open(Path folder) {
    return new GraphFixture(folder);
  }
}
