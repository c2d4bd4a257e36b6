package io.millrace.server.jobs;

import io.millrace.jobs.registry.JobRegistryContract;
import io.millrace.server.HttpFixture;
import io.millrace.store.testkit.contract.StoreFixture;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** The registry of jobs keeps its promises through the HTTP client of the store. */
final class HttpJobRegistryTest extends JobRegistryContract {
  @TempDir private static Path blobs;

  @Override
  protected StoreFixture open() {
    return new HttpFixture(blobs);
  }
}
