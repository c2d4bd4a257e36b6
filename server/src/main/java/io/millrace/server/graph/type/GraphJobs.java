package io.millrace.server.graph.type;

import io.millrace.blobs.BlobStore;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobChange;
import io.millrace.jobs.JobId;
import io.millrace.jobs.registry.JobChanges;
import io.millrace.jobs.registry.Jobs;
import io.millrace.work.SharedWatch;
import io.millrace.work.Watch;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The jobs that attempts at nodes are. To be closed before the store. */
public final class GraphJobs implements AutoCloseable {
  private final Jobs jobs;
  private final BlobStore blobs;
  private final SharedWatch<JobId, Job> ends;

  /** Some of these jobs, whose payloads lie in {@code blobs}. */
  public GraphJobs(Jobs jobs, BlobStore blobs) {
    this.jobs = jobs;
    this.blobs = blobs;
    this.ends = new SharedWatch<>("graph-jobs", new Ended());
  }

  Jobs jobs() {
    return jobs;
  }

  BlobStore blobs() {
    return blobs;
  }

  SharedWatch<JobId, Job> ends() {
    return ends;
  }

  /** Jobs that are done, have failed for good, or are gone. */
  private final class Ended implements Watch.Source<JobId, Job> {
    @Override
    public Watch.Changes<JobId, Job> open() {
      JobChanges changes = jobs.changes(null);
      return new Watch.Changes<>() {
        @Override
        public Map<JobId, @Nullable Job> next(Duration timeout, Predicate<JobId> wanted)
            throws InterruptedException {
          Map<JobId, @Nullable Job> found = new HashMap<>();
          for (JobChange change : changes.next(timeout)) {
            if (wanted.test(change.id())) {
              found.put(change.id(), change.present());
            }
          }
          return found;
        }

        @Override
        public void close() {
          changes.close();
        }
      };
    }

    @Override
    public Map<JobId, Job> read(Collection<JobId> ids) {
      Map<JobId, Job> found = new HashMap<>();
      ids.forEach(id -> jobs.registry().find(id.toString()).ifPresent(job -> found.put(id, job)));
      return found;
    }

    @Override
    public boolean isOver(@Nullable Job job) {
      return job == null || job.status().isEnd();
    }
  }

  @Override
  public void close() {
    ends.close();
  }
}
