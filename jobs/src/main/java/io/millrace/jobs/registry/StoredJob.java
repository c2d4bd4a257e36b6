package io.millrace.jobs.registry;

import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.Report;
import io.millrace.store.Document;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A job with what only the registry knows of it.
 *
 * @param job the job
 * @param last the report that was stored last; null before the first
 */
record StoredJob(Job job, @Nullable Last last) {
  /** How an attempt ended. */
  enum Kind {
    COMPLETED,
    FAILED,
    RETURNED;

    static Kind of(Report report) {
      return switch (report) {
        case Report.Completed _ -> COMPLETED;
        case Report.Failed _ -> FAILED;
        case Report.Returned _ -> RETURNED;
      };
    }
  }

  /**
   * The report that was stored last, by which a repeated one is recognized.
   *
   * @param token its claim's
   * @param kind how the attempt ended
   */
  record Last(long token, Kind kind) {}

  StoredJob with(Job next) {
    return new StoredJob(next, last);
  }

  /**
   * The jobs that were read or written last, so that their documents are not parsed again. A
   * version never stands for two contents. Since another process may have changed a job, a commit
   * that rests on a cached one has to name its version. Safe for use by any number of threads.
   */
  static final class Cache {
    /** How many are kept: a power of two. */
    private static final int MOST = 8_192;

    private final AtomicReferenceArray<@Nullable StoredJob> entries =
        new AtomicReferenceArray<>(MOST);

    /** The job of a document. */
    StoredJob read(Document document) {
      JobId id = JobJson.id(document.key().key());
      int place = place(id);
      StoredJob known = entries.get(place);
      if (known != null && known.job().id().equals(id)) {
        long version = known.job().place().version();
        if (version == document.version()) {
          return known;
        }
        if (version > document.version()) {
          return JobJson.readJob(document);
        }
      }
      StoredJob entry = JobJson.readJob(document);
      entries.set(place, entry);
      return entry;
    }

    /** Keeps a job as a commit has stored it. */
    StoredJob keep(StoredJob stored) {
      int place = place(stored.job().id());
      StoredJob known = entries.get(place);
      if (known == null
          || !known.job().id().equals(stored.job().id())
          || known.job().place().version() < stored.job().place().version()) {
        entries.set(place, stored);
      }
      return stored;
    }

    /** A job as it was last read or written; empty if it is not cached. */
    Optional<StoredJob> find(JobId id) {
      return Optional.ofNullable(entries.get(place(id)))
          .filter(known -> known.job().id().equals(id));
    }

    /** Drops a job that is no longer as it is cached. */
    void forget(JobId id) {
      find(id).ifPresent(known -> entries.compareAndSet(place(id), known, null));
    }

    private static int place(JobId id) {
      int hash = id.hashCode();
      return (hash ^ hash >>> 16) & MOST - 1;
    }
  }
}
