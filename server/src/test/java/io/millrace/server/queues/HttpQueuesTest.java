package io.millrace.server.queues;

import io.millrace.queues.registry.QueuesContract;
import io.millrace.server.HttpFixture;
import io.millrace.server.SaidBeforeTheStore;
import io.millrace.store.testkit.contract.StoreFixture;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Queues keep their promises through the HTTP client and a real server. */
@ExtendWith(SaidBeforeTheStore.class)
final class HttpQueuesTest extends QueuesContract {
  @TempDir private static Path blobs;

  @Override
  protected StoreFixture open() {
    return new HttpFixture(blobs);
  }
}
