package io.millrace.jobs;

import io.millrace.store.Change;
import io.millrace.store.Commit;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Interest;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A stream of the changes of jobs, each once and in order. For use by one thread; to be closed. */
public final class JobChanges implements AutoCloseable {
  private final Subscription commits;
  private final KnownJobs known;

  private JobChanges(Subscription commits, KnownJobs known) {
    this.commits = commits;
    this.known = known;
  }

  /** Throws {@link PositionLostException} where the position cannot be served. */
  static JobChanges begin(Ledger ledger, @Nullable Position after) {
    Interest jobs = new Interest(after, Set.of(), Set.of(Keys.JOBS));
    return new JobChanges(ledger.store().subscribe(jobs), ledger.known());
  }

  /** Where the stream began: the first change to come is after it. */
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
    return next(timeout, _ -> true);
  }

  /**
   * As {@link #next(Duration)}, without the changes of other jobs, which are not even read.
   *
   * @return none, too, where the commit changed only others
   */
  List<JobChange> next(Duration timeout, Predicate<JobId> wanted) throws InterruptedException {
    Commit commit = commits.next(timeout);
    if (commit == null) {
      return List.of();
    }
    List<JobChange> changes = new ArrayList<>();
    for (Change change : commit.changes()) {
      switch (change) {
        case Change.DocumentPut(long _, Document document) -> {
          JobId id = JobForm.id(document.key().key());
          if (wanted.test(id)) {
            changes.add(new JobChange(commit.position(), id, known.read(document).job()));
          }
        }
        case Change.DocumentDeleted(DocumentKey key, long _) -> {
          JobId id = JobForm.id(key.key());
          if (wanted.test(id)) {
            changes.add(new JobChange(commit.position(), id, null));
          }
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
