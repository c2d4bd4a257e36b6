package io.millrace.jobs;

import io.millrace.store.Document;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * What the latest jobs' documents said when they were read, so that not everybody who meets one has
 * to parse it. A version never stands for two contents. Who acts on what is known must name its
 * version, since another process may have changed the job. Safe for use by threads.
 */
final class KnownJobs {
  /** How many are kept: a power of two. */
  private static final int MOST = 8_192;

  private final AtomicReferenceArray<@Nullable Entry> entries = new AtomicReferenceArray<>(MOST);

  /** What a document says. */
  Entry read(Document document) {
    JobId id = JobForm.id(document.key().key());
    int place = place(id);
    Entry known = entries.get(place);
    if (known != null && known.job().id().equals(id)) {
      long version = known.job().place().version();
      if (version == document.version()) {
        return known;
      }
      if (version > document.version()) {
        return JobForm.read(document);
      }
    }
    Entry entry = JobForm.read(document);
    entries.set(place, entry);
    return entry;
  }

  /** A job as it was when it was last met; empty where that is not kept. */
  Optional<Entry> find(JobId id) {
    return Optional.ofNullable(entries.get(place(id))).filter(known -> known.job().id().equals(id));
  }

  /** Something was not as it is known here. */
  void forget(JobId id) {
    find(id).ifPresent(known -> entries.compareAndSet(place(id), known, null));
  }

  private static int place(JobId id) {
    int hash = id.hashCode();
    return (hash ^ hash >>> 16) & MOST - 1;
  }
}
