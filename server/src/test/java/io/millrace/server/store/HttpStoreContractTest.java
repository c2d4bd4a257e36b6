package io.millrace.server.store;

import io.millrace.server.HttpFixture;
import io.millrace.server.SaidBeforeTheStore;
import io.millrace.store.testkit.contract.StoreFixture;
import io.millrace.store.testkit.contract.TaskStoreContract;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Every promise of a store, kept through the HTTP client and a real server. */
@ExtendWith(SaidBeforeTheStore.class)
final class HttpStoreContractTest extends TaskStoreContract {
  @TempDir private static Path blobs;

  @Override
  protected StoreFixture newFixture() {
    return new HttpFixture(blobs);
  }
}
