package io.millrace.queues.registry;

import io.millrace.store.testkit.contract.EmbeddedFixture;
import io.millrace.store.testkit.contract.StoreFixture;

class EmbeddedRetriesTest extends RetriesContract {
  @Override
  protected StoreFixture open() {
    return new EmbeddedFixture(1);
  }
}
