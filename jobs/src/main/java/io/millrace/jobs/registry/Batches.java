package io.millrace.jobs.registry;

import io.millrace.jobs.Batch;
import io.millrace.jobs.JobsException;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Transaction.DocumentVersion;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Places jobs in batches. {@link Submitting} holds its lock from a plan to the outcome, so that
 * only other processes can interfere; the current batches are cached in between. Guarded by that
 * lock.
 */
final class Batches {
  private final JobStore store;
  private final int capacity;

  private final Map<String, Known> current = new HashMap<>();
  private @Nullable Counter lastBatch;

  Batches(JobStore store, int capacity) {
    this.store = store;
    this.capacity = capacity;
  }

  /**
   * The batch of a type that is being filled.
   *
   * @param batch as it is stored; full if there is none yet
   * @param version its document's
   * @param pointer the version of the document that says which it is
   */
  private record Known(Batch batch, long version, long pointer) {}

  private record Counter(long number, long version) {}

  /** A place in a batch; {@code index} counts from 0. */
  record Spot(long batch, int index) {}

  /** Begins a plan; the one before has ended. */
  Plan plan() {
    return new Plan();
  }

  /** Places for the jobs of one transaction. */
  final class Plan {
    private final Map<Long, Batch> filled = new LinkedHashMap<>();
    private final Map<String, Batch> latest = new LinkedHashMap<>();
    private final List<DocumentKey> written = new ArrayList<>();
    private long last;

    private Plan() {}

    /** Starts over; with {@code reread} from what is stored now. */
    void clear(boolean reread) {
      filled.clear();
      latest.clear();
      written.clear();
      last = 0;
      if (reread) {
        current.clear();
        lastBatch = null;
      }
    }

    /** The next place for a job of a type. */
    Spot place(String type) {
      Batch batch = latest.get(type);
      if (batch == null) {
        batch = current.computeIfAbsent(type, Batches.this::read).batch();
      }
      if (batch.isFull()) {
        if (last == 0) {
          last = counter().number();
        }
        last++;
        batch = new Batch(last, type, 0, capacity);
      }
      Batch next = new Batch(batch.id(), type, batch.size() + 1, batch.capacity());
      latest.put(type, next);
      filled.put(next.id(), next);
      return new Spot(next.id(), batch.size());
    }

    /** Adds what it changes; nothing may have been put before, and it is called once. */
    void writeTo(JobTransaction transaction) {
      filled.values().forEach(batch -> put(transaction, batch));
      latest.forEach((type, batch) -> {
        Known known = known(type);
        if (known.batch().id() != batch.id()) {
          put(transaction, Keys.current(type), known.pointer(), Long.toString(batch.id()));
        }
      });
      if (last > 0) {
        put(transaction, Keys.LAST_BATCH, counter().version(), Long.toString(last));
      }
    }

    private void put(JobTransaction transaction, Batch batch) {
      Known known = known(batch.type());
      boolean begun = known.batch().id() == batch.id();
      DocumentKey key = Keys.batch(batch.id());
      transaction.put(key, begun ? known.version() : DocumentVersion.ABSENT, JobJson.write(batch));
      written.add(key);
    }

    private void put(JobTransaction transaction, DocumentKey key, long version, String text) {
      transaction.put(key, version, Bytes.of(text));
      written.add(key);
    }

    /** It is stored. */
    void stored(Outcome.Done done) {
      Map<DocumentKey, Long> versions = new HashMap<>();
      for (Document document : done.documents().subList(0, written.size())) {
        versions.put(document.key(), document.version());
      }
      latest.forEach((type, batch) -> {
        long version = versions.getOrDefault(Keys.batch(batch.id()), 0L);
        long pointer = versions.getOrDefault(Keys.current(type), known(type).pointer());
        current.put(type, new Known(batch, version, pointer));
      });
      if (last > 0) {
        lastBatch = new Counter(last, versions.getOrDefault(Keys.LAST_BATCH, 0L));
      }
    }
  }

  private Known known(String type) {
    return current.computeIfAbsent(type, this::read);
  }

  private Known read(String type) {
    Optional<Document> pointer = store.document(Keys.current(type));
    if (pointer.isEmpty()) {
      return new Known(new Batch(0, type, 0, 0), DocumentVersion.ABSENT, DocumentVersion.ABSENT);
    }
    long number = Long.parseLong(pointer.get().body().utf8());
    Document batch =
        store
            .document(Keys.batch(number))
            .orElseThrow(() -> new JobsException("the document of batch " + number + " is gone"));
    return new Known(JobJson.readBatch(batch), batch.version(), pointer.get().version());
  }

  private Counter counter() {
    if (lastBatch == null) {
      lastBatch =
          store
              .document(Keys.LAST_BATCH)
              .map(found -> new Counter(Long.parseLong(found.body().utf8()), found.version()))
              .orElse(new Counter(store.store().ids().base(), DocumentVersion.ABSENT));
    }
    return lastBatch;
  }
}
