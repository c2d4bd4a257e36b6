package io.millrace.queues.registry;

import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueBackendContract;
import io.millrace.store.testkit.contract.EmbeddedFixture;
import io.millrace.store.testkit.contract.StoreFixture;
import java.time.Duration;
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

  @Override
  protected boolean hasLeases() {
    return true;
  }

  @Override
  protected void advance(Duration time) {
    store.advance(time);
  }

  @Override
  protected boolean checksLimitAsItClaims() {
    return true;
  }

  @AfterEach
  void end() {
    store.close();
  }
}
