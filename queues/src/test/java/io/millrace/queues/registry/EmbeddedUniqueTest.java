package io.millrace.queues.registry;

import io.millrace.store.testkit.contract.EmbeddedFixture;
import io.millrace.store.testkit.contract.StoreFixture;

class EmbeddedUniqueTest extends UniqueContract {
  @Override
  protected StoreFixture open() {
    return new EmbeddedFixture(1);
  }
}
