package io.millrace.jobs.registry;

import io.millrace.store.testkit.contract.EmbeddedFixture;
import java.nio.file.Path;

class EmbeddedJobsTest extends JobsContract {
  @Override
  protected JobsAccess open(Path folder) {
    return new RegistryAccess(new EmbeddedFixture(1), folder);
  }
}
