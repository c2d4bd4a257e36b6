package io.millrace.server.jobs;

import io.millrace.jobs.registry.JobsAccess;
import io.millrace.jobs.registry.JobsContract;
import java.nio.file.Path;

/** Jobs keep their promises over HTTP, with a real server and workers that ask. */
final class HttpJobsTest extends JobsContract {
  @Override
  protected JobsAccess open(Path folder) {
    return new HttpJobs(folder);
  }
}
