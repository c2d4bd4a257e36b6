package io.millrace.graph;

import java.nio.file.Path;

class StoredGraphDataTest extends GraphDataContract {
  @Override
  protected GraphAccess open(Path folder) {
    return new GraphFixture(folder);
  }
}
