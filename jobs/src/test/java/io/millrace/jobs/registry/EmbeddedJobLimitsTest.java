package io.millrace.jobs.registry;

import io.millrace.store.testkit.contract.EmbeddedFixture;
import io.millrace.store.testkit.contract.StoreFixture;

class EmbeddedJobLimitsTest extends JobLimitsContract {
  @Override
  protected StoreFixture open() {
    return new EmbeddedFixture(1);
  }
}
