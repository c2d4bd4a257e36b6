package io.millrace.store.testkit.contract;

final class EmbeddedStoreTest extends TaskStoreContract {
  private static final long SEED = 1;

  @Override
  protected StoreFixture newFixture() {
    return new EmbeddedFixture(SEED);
  }
}
