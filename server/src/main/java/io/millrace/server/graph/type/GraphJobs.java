package io.millrace.server.graph.type;

import io.millrace.blobs.BlobStore;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobChange;
import io.millrace.jobs.JobId;
import io.millrace.jobs.registry.JobChanges;
import io.millrace.jobs.registry.Jobs;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** The jobs that attempts at nodes are. To be closed before the store. */
public final class GraphJobs implements AutoCloseable {
  private final Jobs jobs;
  private final BlobStore blobs;
  private final Follower<JobId, JobEnd> follower;

  /** Some of these jobs, whose payloads lie in {@code blobs}. */
  public GraphJobs(Jobs jobs, BlobStore blobs) {
    this.jobs = jobs;
    this.blobs = blobs;
    this.follower = new Follower<>("graph-jobs", new Ended());
  }

  Jobs jobs() {
    return jobs;
  }

  BlobStore blobs() {
    return blobs;
  }

  Follower<JobId, JobEnd> follower() {
    return follower;
  }

  /** Tells of jobs that are done, have failed for good, or are gone. */
  private final class Ended implements Follower.Source<JobId, JobEnd> {
    @Override
    public Follower.Ends<JobId, JobEnd> open() {
      JobChanges changes = jobs.changes(null);
      return new Follower.Ends<>() {
        @Override
        public Map<JobId, JobEnd> next(Duration timeout, Predicate<JobId> wanted)
            throws InterruptedException {
          Map<JobId, JobEnd> ended = new HashMap<>();
          for (JobChange change : changes.next(timeout)) {
            Job job = change.present();
            if (wanted.test(change.id()) && (job == null || job.status().isEnd())) {
              ended.put(change.id(), new JobEnd(job));
            }
          }
          return ended;
        }

        @Override
        public void close() {
          changes.close();
        }
      };
    }

    @Override
    public Optional<JobEnd> look(JobId id) {
      Job job = jobs.registry().find(id.toString()).orElse(null);
      return job == null || job.status().isEnd() ? Optional.of(new JobEnd(job)) : Optional.empty();
    }
  }

  @Override
  public void close() {
    follower.close();
  }
}
