package io.millrace.queues;

import io.millrace.store.testkit.contract.EmbeddedFixture;
import io.millrace.store.testkit.contract.StoreFixture;
import java.time.InstantSource;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;

class EmbeddedQueueBackendTest extends QueueBackendContract {
  private final StoreFixture store = new EmbeddedFixture(1);
  private final Queues queues = Queues.in(store.store(), InstantSource.system(), new Random(1));

  @Override
  protected QueueBackend backend() {
    return queues;
  }

  @AfterEach
  void end() {
    store.close();
  }
}
