package io.millrace.jobs;

import io.millrace.blobs.BlobStore;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.DocumentQuery;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.Reason;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The store as the registry uses it, with a clock and ids. Safe for use by threads. */
final class Ledger {
  private static final int ATTEMPTS = 100;
  private static final int PAGE = 1_000;

  private final TaskStore store;
  private final BlobStore blobs;
  private final InstantSource clock;
  private final Guids ids;
  private final KnownJobs known = new KnownJobs();
  private final Owner self;

  Ledger(TaskStore store, BlobStore blobs, JobsEnvironment environment) {
    this.store = store;
    this.blobs = blobs;
    this.clock = environment.clock();
    this.self = Owner.client(environment.random().nextLong(1, 1L << 53));
    this.ids = new Guids(clock, environment.random());
  }

  TaskStore store() {
    return store;
  }

  BlobStore blobs() {
    return blobs;
  }

  long nowMillis() {
    return clock.millis();
  }

  JobId newId() {
    return ids.next();
  }

  /** Who holds the claims of this registry. */
  Owner self() {
    return self;
  }

  /** What has been read of jobs, and what the documents of commits say. */
  KnownJobs known() {
    return known;
  }

  Optional<Document> document(DocumentKey key) {
    return store.document(key).value();
  }

  Optional<Entry> entry(JobId id) {
    return document(Keys.job(id)).map(known::read);
  }

  /**
   * The jobs of these ids that are there: as they are known where that is {@code good}, read from
   * the store otherwise. To be used only where a commit names their versions.
   */
  Map<JobId, Entry> entries(Collection<JobId> wanted, Predicate<Entry> good) {
    Map<JobId, Entry> found = new HashMap<>();
    List<JobId> others = new ArrayList<>();
    for (JobId id : wanted) {
      known
          .find(id)
          .filter(good)
          .ifPresentOrElse(entry -> found.put(id, entry), () -> others.add(id));
    }
    found.putAll(entries(others));
    return found;
  }

  /**
   * The jobs of these ids that are there. Jobs that are wanted together were mostly submitted
   * together, so it reads them by stretches instead of one by one.
   */
  Map<JobId, Entry> entries(Collection<JobId> wanted) {
    Map<JobId, Entry> found = new HashMap<>();
    TreeSet<String> missing = new TreeSet<>();
    wanted.forEach(id -> missing.add(id.toString()));
    while (!missing.isEmpty()) {
      if (missing.size() == 1) {
        entry(JobForm.id(missing.removeFirst())).ifPresent(e -> found.put(e.job().id(), e));
        continue;
      }
      String first = missing.first();
      int limit = Math.min(PAGE, 2 * missing.size());
      List<Document> page =
          store.documents(new DocumentQuery(Keys.JOBS, "", justBefore(first), limit)).value();
      String last = page.size() < limit ? missing.last() : page.getLast().key().key();
      for (Document document : page) {
        if (missing.contains(document.key().key())) {
          Entry entry = known.read(document);
          found.put(entry.job().id(), entry);
        }
      }
      missing.headSet(last, true).clear();
    }
    return found;
  }

  /** The greatest key that is smaller and may occur: one of an id whose last digit is less. */
  private static String justBefore(String id) {
    return id.substring(0, id.length() - 1);
  }

  /** The documents of a collection whose keys begin so, page by page. */
  void each(String collection, String prefix, Consumer<Document> look) {
    Iterator<Document> all = iterator(collection, prefix, "");
    all.forEachRemaining(look);
  }

  /** The documents of a collection whose keys begin so and are greater than {@code after}. */
  Iterator<Document> iterator(String collection, String prefix, String after) {
    return new Iterator<>() {
      private List<Document> page = List.of();
      private int next;
      private boolean over;
      private String last = after;

      @Override
      public boolean hasNext() {
        if (next == page.size() && !over) {
          page = store.documents(new DocumentQuery(collection, prefix, last, PAGE)).value();
          next = 0;
          over = page.size() < PAGE;
          last = page.isEmpty() ? last : page.getLast().key().key();
        }
        return next < page.size();
      }

      @Override
      public Document next() {
        if (!hasNext()) {
          throw new java.util.NoSuchElementException();
        }
        return page.get(next++);
      }
    };
  }

  /**
   * Commits.
   *
   * @return how it went; refused only where something changed meanwhile, so that a new look is due
   * @throws JobsFullException where the store has no room
   * @throws TooLargeException where a smaller transaction may be taken
   * @throws InvalidJobException where the store would never take it
   */
  Outcome commit(Transaction transaction) {
    return check(store.commit(transaction));
  }

  /** Throws what {@link #commit} throws. */
  static Outcome check(Outcome outcome) {
    if (outcome instanceof Outcome.Refused refused) {
      for (Reason reason : refused.reasons()) {
        switch (reason.kind()) {
          case MISSING_UPDATE,
              MISSING_DELETE,
              MISSING_DEPEND,
              OWNED_BY_ANOTHER,
              LEASE_ENDED,
              NOT_WAITING,
              VERSION_CONFLICT -> {}
          case FULL -> throw new JobsFullException(reason.message());
          case TOO_LARGE -> throw new TooLargeException(reason.message());
          case MALFORMED, REQUEST_ID_REUSED -> throw new InvalidJobException(reason.message());
        }
      }
    }
    return outcome;
  }

  /** One look and one commit. */
  interface Attempt<T> {
    /**
     * What came of it; null where something changed in between.
     *
     * @param number how often it was tried before, from 0
     */
    @Nullable T make(int number);
  }

  /** Looks and commits until nothing came in between. */
  <T> T insist(String what, Attempt<T> attempt) {
    for (int i = 0; i < ATTEMPTS; i++) {
      T result = attempt.make(i);
      if (result != null) {
        return result;
      }
    }
    throw new JobsException(what + " changes too fast; it was tried " + ATTEMPTS + " times");
  }

  /** Hands over parts of a list, smaller ones where the store finds a part too large. */
  static <T> void inParts(List<T> all, int most, Consumer<List<T>> work) {
    int size = most;
    List<T> left = new ArrayList<>(all);
    while (!left.isEmpty()) {
      List<T> part = left.subList(0, Math.min(size, left.size()));
      try {
        work.accept(List.copyOf(part));
        part.clear();
      } catch (TooLargeException e) {
        if (part.size() == 1) {
          throw e;
        }
        size = part.size() / 2;
      }
    }
  }
}
