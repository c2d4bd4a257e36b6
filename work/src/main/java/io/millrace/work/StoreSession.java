package io.millrace.work;

import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Owner;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.Transaction;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The store as a layer uses it: under a client id of its own, with refusals as exceptions of the
 * layer, and with another attempt when something changed in between. A layer extends it with what
 * is its own. Safe for use by threads.
 *
 * <p>A refusal is either a conflict (something the transaction names has changed, is gone, or has
 * another owner), so that it is worth reading again, or it is final: the store has no room, or
 * would never take the transaction. Final refusals are thrown, see {@link #refused}.
 */
public abstract class StoreSession {
  private static final int ATTEMPTS = 100;
  private static final int PAGE = 1_000;

  private final TaskStore store;
  private final RandomGenerator random;
  private final Owner self;

  /**
   * A session with a client id of its own.
   *
   * @param random draws client ids; used under its own lock
   */
  protected StoreSession(TaskStore store, RandomGenerator random) {
    this.store = store;
    this.random = random;
    this.self = Owner.client(newClient());
  }

  /**
   * What to throw when a transaction is refused and another attempt would not help.
   *
   * @param reason of kind {@link Reason.Kind#FULL}, {@link Reason.Kind#TOO_LARGE}, {@link
   *     Reason.Kind#MALFORMED} or {@link Reason.Kind#REQUEST_ID_REUSED}
   */
  protected abstract RuntimeException refused(Reason reason);

  /** What to throw when every attempt met a conflict. */
  protected abstract RuntimeException contended(String message);

  /** The store itself. */
  public final TaskStore store() {
    return store;
  }

  /** The owner of what this session claims. */
  public final Owner self() {
    return self;
  }

  /** A client id that nobody else has: 1 to 2^53 - 1, drawn at random. */
  public final long newClient() {
    synchronized (random) {
      return random.nextLong(1, 1L << 53);
    }
  }

  /** Begins a transaction of this session. */
  public final Transaction.Builder begin() {
    return Transaction.by(self);
  }

  /** The document with this key. */
  public final Optional<Document> document(DocumentKey key) {
    return store.document(key).value();
  }

  /** All documents of a collection as they are at one moment, ordered by key. */
  public final List<Document> all(String collection) {
    return store.documents(DocumentQuery.prefix(collection, "")).value();
  }

  /** The documents of a collection, ordered by key, read page by page. */
  public final Iterable<Document> pages(String collection) {
    return pages(store, collection, "", "");
  }

  /**
   * The documents of a collection, ordered by key and read page by page, so that they need not fit
   * into memory together. Pages are read at different moments.
   *
   * @param prefix only documents whose keys begin with this; empty for all
   * @param after only documents whose keys are greater; empty for all
   */
  public final Iterable<Document> pages(String collection, String prefix, String after) {
    return pages(store, collection, prefix, after);
  }

  /**
   * The same for a caller that wants only the first documents.
   *
   * @param wanted about how many: the size of a page, from 1 to 1,000
   */
  public final Iterable<Document> pages(String collection, String after, int wanted) {
    return pages(new DocumentQuery(collection, "", after, wanted));
  }

  /**
   * The result of a query, read page by page.
   *
   * @param query its limit is the size of a page, from 1
   */
  public final Iterable<Document> pages(DocumentQuery query) {
    return pages(store, query);
  }

  /**
   * What is of interest among the documents of a query, in their order. Those after the first page
   * are looked at by all processors.
   *
   * @param query its limit is the size of a page, from 1
   * @param most how many documents it reads
   * @param look what a document is to the caller, or null to leave it out; depends on nothing else,
   *     and is called by any thread, also for documents that are never asked for
   */
  public final <T> Scan<T> scan(
      DocumentQuery query, long most, Function<Document, @Nullable T> look) {
    return new Scan<>(store, query, most, look, true);
  }

  /** As {@link #pages(String, String, String)}, without a session. */
  public static Iterable<Document> pages(
      TaskStore store, String collection, String prefix, String after) {
    return pages(store, new DocumentQuery(collection, prefix, after, PAGE));
  }

  private static Iterable<Document> pages(TaskStore store, DocumentQuery query) {
    return () -> new Scan<>(store, query, Long.MAX_VALUE, document -> document, false);
  }

  /** Reads documents page by page, each page when it is asked for. For one thread. */
  public static final class Scan<T> implements Iterator<T> {
    /** How many times as large as the first page those are that all processors look at. */
    private static final int PARALLEL_PAGE_FACTOR = 8;

    private final TaskStore store;
    private final DocumentQuery query;
    private final long most;
    private final Function<Document, @Nullable T> look;
    private final boolean shared;
    private Iterator<T> found = Collections.emptyIterator();
    private String last;
    private long read;
    private boolean over;

    private Scan(
        TaskStore store,
        DocumentQuery query,
        long most,
        Function<Document, @Nullable T> look,
        boolean shared) {
      this.store = store;
      this.query = query;
      this.most = most;
      this.look = look;
      this.shared = shared;
      this.last = query.after();
    }

    @Override
    public boolean hasNext() {
      while (!found.hasNext() && !over && read < most) {
        boolean parallel = shared && read > 0;
        int size =
            (int)
                Math.min((long) query.limit() * (parallel ? PARALLEL_PAGE_FACTOR : 1), most - read);
        List<Document> page = store.documents(query.after(last).withLimit(size)).value();
        Stream<Document> documents = parallel ? page.parallelStream() : page.stream();
        Stream<T> each = documents.mapMulti(this::look);
        // The first page is looked at as far as needed, since many callers want no more.
        found = each.isParallel() ? each.toList().iterator() : each.iterator();
        read += page.size();
        over = page.size() < size;
        last = page.isEmpty() ? last : page.getLast().key().key();
      }
      return found.hasNext();
    }

    private void look(Document document, Consumer<? super T> to) {
      T seen = look.apply(document);
      if (seen != null) {
        to.accept(seen);
      }
    }

    @Override
    public T next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      return found.next();
    }

    /** Whether all documents have been read, when there is no next one. */
    public boolean isWhole() {
      return over;
    }
  }

  /**
   * Commits.
   *
   * @return {@link Outcome.Refused} only for conflicts
   * @throws RuntimeException of {@link #refused} if another attempt would not help
   */
  public final Outcome commit(Transaction transaction) {
    return check(store.commit(transaction));
  }

  /**
   * Commits.
   *
   * @return null for a conflict, so that another attempt is due
   * @throws RuntimeException of {@link #refused} if another attempt would not help
   */
  public final Outcome.@Nullable Done tryCommit(Transaction transaction) {
    return commit(transaction) instanceof Outcome.Done done ? done : null;
  }

  /** Throws what {@link #commit} throws; for outcomes that come otherwise. */
  public final Outcome check(Outcome outcome) {
    if (outcome instanceof Outcome.Refused refused) {
      for (Reason reason : refused.reasons()) {
        switch (reason.kind()) {
          case MISSING_UPDATE,
              MISSING_DELETE,
              MISSING_DEPEND,
              OWNED_BY_ANOTHER,
              LEASE_ENDED,
              NOT_WAITING,
              LIMIT_REACHED,
              VERSION_CONFLICT -> {}
          case FULL, TOO_LARGE, MALFORMED, REQUEST_ID_REUSED -> throw refused(reason);
        }
      }
    }
    return outcome;
  }

  /**
   * Makes attempts, up to 100, until one has a result.
   *
   * @param what is changed, for people: "task 17"
   * @param attempt reads and commits; null if something changed in between
   * @throws RuntimeException of {@link #contended} if every attempt met a change
   */
  public final <T> T retry(String what, Supplier<@Nullable T> attempt) {
    for (int i = 0; i < ATTEMPTS; i++) {
      T result = attempt.get();
      if (result != null) {
        return result;
      }
    }
    throw contended(what + " changes too fast; it was tried " + ATTEMPTS + " times");
  }

  /**
   * Reads something and changes it, with up to 100 attempts, until nothing changed in between.
   *
   * @param what is changed, for people: "task 17"
   * @param read empty if it is not there
   * @param change commits on what was read; null if something changed in between
   * @return the result of the change; empty if it is not there
   * @throws RuntimeException of {@link #contended} if every attempt met a change
   */
  public final <F, T> Optional<T> retry(
      String what, Supplier<Optional<F>> read, Function<F, @Nullable T> change) {
    return retry(
        what,
        () -> {
          Optional<F> found = read.get();
          if (found.isEmpty()) {
            return Optional.<T>empty();
          }
          T result = change.apply(found.get());
          return result == null ? null : Optional.of(result);
        });
  }
}
