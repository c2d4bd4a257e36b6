package io.millrace.server.queues;

import io.millrace.queues.registry.TaskLimitsContract;
import io.millrace.server.HttpFixture;
import io.millrace.server.SaidBeforeTheStore;
import io.millrace.store.testkit.contract.StoreFixture;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Keys, priorities and limits of queue tasks work through the HTTP client and a real server. */
@ExtendWith(SaidBeforeTheStore.class)
final class HttpTaskLimitsTest extends TaskLimitsContract {
  @TempDir private static Path blobs;

  @Override
  protected StoreFixture open() {
    return new HttpFixture(blobs);
  }
}
