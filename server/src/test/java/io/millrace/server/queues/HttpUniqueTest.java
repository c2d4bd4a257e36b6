package io.millrace.server.queues;

import io.millrace.queues.registry.UniqueContract;
import io.millrace.server.HttpFixture;
import io.millrace.server.SaidBeforeTheStore;
import io.millrace.store.testkit.contract.StoreFixture;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Unique keys of queue tasks work through the HTTP client and a real server. */
@ExtendWith(SaidBeforeTheStore.class)
final class HttpUniqueTest extends UniqueContract {
  @TempDir private static Path blobs;

  @Override
  protected StoreFixture open() {
    return new HttpFixture(blobs);
  }
}
