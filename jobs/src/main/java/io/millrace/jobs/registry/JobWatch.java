package io.millrace.jobs.registry;

import io.millrace.jobs.Job;
import io.millrace.jobs.JobChange;
import io.millrace.jobs.JobId;
import io.millrace.store.PositionLostException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Watches some jobs until all have ended: done, failed for good, or deleted. A job that is retried
 * later does not come back. For use by one thread; to be closed.
 */
public final class JobWatch implements AutoCloseable {
  private final JobStore store;
  private final Map<JobId, @Nullable Job> jobs = new LinkedHashMap<>();
  private final Set<JobId> pending = new HashSet<>();
  private JobChanges changes;

  private JobWatch(JobStore store, Collection<JobId> ids) {
    this.store = store;
    ids.forEach(id -> jobs.put(id, null));
    pending.addAll(ids);
    this.changes = JobChanges.begin(store, null);
  }

  static JobWatch begin(JobStore store, Collection<JobId> ids) {
    JobWatch watch = new JobWatch(store, ids);
    try {
      watch.look();
      return watch;
    } catch (RuntimeException e) {
      watch.close();
      throw e;
    }
  }

  private void look() {
    Set<JobId> open = Set.copyOf(pending);
    Map<JobId, StoredJob> found = store.entries(open);
    for (JobId id : open) {
      StoredJob entry = found.get(id);
      note(id, entry == null ? null : entry.job());
    }
  }

  private void note(JobId id, @Nullable Job job) {
    jobs.put(id, job);
    if (job == null || job.status().isEnd()) {
      pending.remove(id);
    }
  }

  /** Each job as it was last known, in the order asked; null for those that are not there. */
  public Map<JobId, @Nullable Job> jobs() {
    return jobs;
  }

  /** How many have not ended. */
  public int pending() {
    return pending.size();
  }

  /** Waits for news, at most for {@code timeout}; returns at once if all have ended. */
  public void await(Duration timeout) throws InterruptedException {
    if (pending.isEmpty()) {
      return;
    }
    try {
      for (JobChange change : changes.next(timeout, pending::contains)) {
        note(change.id(), change.present());
      }
    } catch (PositionLostException _) {
      // Too much has happened to follow it one by one.
      changes.close();
      changes = JobChanges.begin(store, null);
      look();
    }
  }

  @Override
  public void close() {
    changes.close();
  }
}
