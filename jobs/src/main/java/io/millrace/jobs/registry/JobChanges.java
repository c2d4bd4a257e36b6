package io.millrace.jobs.registry;

import io.millrace.jobs.JobChange;
import io.millrace.jobs.JobId;
import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A stream of the changes of jobs, each once and in order. For use by one thread; to be closed. */
public final class JobChanges implements AutoCloseable {
  private final Subscription commits;
  private final StoredJob.Cache known;

  private JobChanges(Subscription commits, StoredJob.Cache known) {
    this.commits = commits;
    this.known = known;
  }

  /** Throws {@link PositionLostException} if the position cannot be served. */
  static JobChanges begin(JobStore store, @Nullable Position after) {
    Interest jobs = new Interest(after, Set.of(), Set.of(Keys.JOBS));
    return new JobChanges(store.store().subscribe(jobs), store.known());
  }

  /** The position at which the stream began: all changes are after it. */
  public Position start() {
    return commits.start();
  }

  /**
   * The changes of the next commit that has any, waiting for it.
   *
   * @param timeout how long to wait in real time
   * @return in order; none when the time is over
   * @throws PositionLostException when the stream was read too slowly
   */
  public List<JobChange> next(Duration timeout) throws InterruptedException {
    Commit commit = commits.next(timeout);
    return commit == null ? List.of() : read(commit, known);
  }

  /** The changes of one commit, in order. */
  static List<JobChange> read(Commit commit, StoredJob.Cache known) {
    List<JobChange> changes = new ArrayList<>();
    for (Change change : commit.changes()) {
      switch (change) {
        case Change.DocumentPut(long _, Document document) -> {
          JobId id = JobJson.id(document.key().key());
          changes.add(new JobChange(commit.position(), id, known.read(document).job()));
        }
        case Change.DocumentDeleted(DocumentKey key, long _) -> {
          JobId id = JobJson.id(key.key());
          changes.add(new JobChange(commit.position(), id, null));
        }
        default -> {}
      }
    }
    return changes;
  }

  @Override
  public void close() {
    commits.close();
  }
}
