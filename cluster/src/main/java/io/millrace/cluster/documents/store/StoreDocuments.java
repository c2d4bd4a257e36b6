package io.millrace.cluster.documents.store;

import io.millrace.cluster.documents.DocumentsUnavailableException;
import io.millrace.cluster.documents.Keys;
import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.store.Bytes;
import io.millrace.store.Commit;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Owner;
import io.millrace.store.StoreException;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.Subscriber;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Documents in a collection of a task store. Every put and delete is a transaction of its own.
 * Versions are those of the store, which are never reused. {@link #list} is as new as {@link #get}.
 *
 * <p>A request takes as long as a request to the store: it ends at once in process, and within the
 * client's timeouts over HTTP. A change is sent once and carries no request id, because the store
 * would have to remember it. If the answer is lost, the change throws {@link
 * UnclearOutcomeException}.
 */
public final class StoreDocuments implements VersionedDocuments {
  /** The default collection for the documents of a cluster. */
  public static final String COLLECTION = "cluster";

  /** The owner does not matter, because no tasks are touched. */
  private static final Owner NOBODY = Owner.client(0);

  private final TaskStore store;
  private final String collection;
  private final boolean closesStore;
  private final Watches watches = new Watches();
  private volatile boolean closed;

  private StoreDocuments(TaskStore store, String collection, boolean closesStore) {
    this.store = store;
    this.collection = collection;
    this.closesStore = closesStore;
  }

  /** The documents in collection {@value #COLLECTION}; closing them leaves the store open. */
  public static StoreDocuments of(TaskStore store) {
    return in(store, COLLECTION);
  }

  /**
   * The documents in a collection; closing them leaves the store open.
   *
   * @param collection the name of the collection, 1 to 512 bytes; it must contain nothing else
   */
  public static StoreDocuments in(TaskStore store, String collection) {
    return new StoreDocuments(store, collection, false);
  }

  /** The documents in collection {@value #COLLECTION}; closing them closes the store. */
  public static StoreDocuments owning(TaskStore store) {
    return new StoreDocuments(store, COLLECTION, true);
  }

  @Override
  public Optional<VersionedDocument> get(String key) {
    Keys.check(key);
    return request(() -> store.document(named(key)).value().map(StoreDocuments::versioned));
  }

  @Override
  public Optional<Version> put(String key, Version expected, String json) {
    Keys.check(key, json);
    Transaction put =
        Transaction.by(NOBODY).put(named(key), number(expected), Bytes.of(json)).build();
    return commit(put).map(done -> version(done.documents().getFirst()));
  }

  @Override
  public boolean delete(String key, Version expected) {
    Keys.checkDelete(key, expected);
    return commit(Transaction.by(NOBODY).delete(named(key), number(expected)).build()).isPresent();
  }

  @Override
  public List<VersionedDocument> list(String prefix) {
    Keys.checkPrefix(prefix);
    DocumentQuery query = DocumentQuery.prefix(collection, prefix);
    return request(
        () -> store.documents(query).value().stream().map(StoreDocuments::versioned).toList());
  }

  /**
   * One subscription to the store serves all watches. It is open while there are any, and a few
   * seconds longer.
   */
  @Override
  public Optional<Watch> watch(String key, Runnable changed) {
    Keys.check(key);
    return watches.add(key, changed);
  }

  /** Commits a change; empty if the document has another version. */
  private Optional<Outcome.Done> commit(Transaction transaction) {
    return switch (request(() -> store.commit(transaction))) {
      case Outcome.Done done -> Optional.of(done);
      case Outcome.Refused refused -> {
        for (Reason reason : refused.reasons()) {
          if (reason.kind() != Reason.Kind.VERSION_CONFLICT) {
            throw new DocumentsUnavailableException("the store refuses: " + reason.message());
          }
        }
        yield Optional.empty();
      }
    };
  }

  private <T> T request(Supplier<T> request) {
    if (closed) {
      throw new DocumentsUnavailableException("the documents are closed");
    }
    try {
      return request.get();
    } catch (OutcomeUnknownException e) {
      throw new UnclearOutcomeException("the store may have changed: " + e.getMessage(), e);
    } catch (StoreException e) {
      throw new DocumentsUnavailableException("the store cannot be used: " + e.getMessage(), e);
    }
  }

  private DocumentKey named(String key) {
    return new DocumentKey(collection, key);
  }

  /** Converts a document of the store. */
  public static VersionedDocument versioned(Document document) {
    return new VersionedDocument(document.key().key(), version(document), document.body().utf8());
  }

  private static Version version(Document document) {
    return new Version(Long.toString(document.version()));
  }

  /** The store's number for a version; numbers of existing documents are positive. */
  private static long number(Version version) {
    if (version.equals(Version.NONE)) {
      return DocumentVersion.ABSENT;
    }
    try {
      long number = Long.parseLong(version.text());
      if (number > 0) {
        return number;
      }
    } catch (NumberFormatException _) {
      // Refused below, like other invalid numbers.
    }
    throw new IllegalArgumentException("not a version of these documents: " + version);
  }

  @Override
  public void close() {
    closed = true;
    watches.close();
    if (closesStore) {
      store.close();
    }
  }

  /** The watched keys, and the subscription that reports their changes. */
  private final class Watches implements Subscriber.Listener {
    /** How long the subscription stays open after the last watch, for the next wait for a lock. */
    private static final Duration LINGER = Duration.ofSeconds(5);

    private final Map<String, List<Runnable>> watched = new HashMap<>();
    private @Nullable Subscriber subscriber;
    private long additions;

    /** Adds a watch; returns empty if the documents are closed. */
    synchronized Optional<Watch> add(String key, Runnable changed) {
      if (closed) {
        return Optional.empty();
      }
      additions++;
      watched.computeIfAbsent(key, _ -> new ArrayList<>()).add(changed);
      if (subscriber == null) {
        Interest interest = new Interest(null, Set.of(), Set.of(collection));
        subscriber = Subscriber.start("cluster-watch", store, interest, this);
      }
      return Optional.of(() -> remove(key, changed));
    }

    private synchronized void remove(String key, Runnable changed) {
      List<Runnable> callbacks = watched.get(key);
      if (callbacks == null || !callbacks.remove(changed)) {
        return;
      }
      if (callbacks.isEmpty()) {
        watched.remove(key);
      }
      if (watched.isEmpty()) {
        long last = additions;
        var _ =
            CompletableFuture.runAsync(
                () -> closeAfter(last),
                CompletableFuture.delayedExecutor(LINGER.toMillis(), TimeUnit.MILLISECONDS));
      }
    }

    private void closeAfter(long addition) {
      Subscriber unused;
      synchronized (this) {
        if (additions != addition) {
          return;
        }
        unused = subscriber;
        subscriber = null;
      }
      if (unused != null) {
        unused.close();
      }
    }

    void close() {
      long last;
      synchronized (this) {
        watched.clear();
        last = additions;
      }
      closeAfter(last);
    }

    @Override
    public void opened() {
      List<Runnable> all;
      synchronized (this) {
        all = watched.values().stream().flatMap(List::stream).toList();
      }
      all.forEach(Runnable::run);
    }

    @Override
    public void committed(Commit commit) {
      commit.forEachDocument((key, _) -> tell(key));
    }

    private void tell(DocumentKey key) {
      List<Runnable> callbacks;
      synchronized (this) {
        callbacks = List.copyOf(watched.getOrDefault(key.key(), List.of()));
      }
      callbacks.forEach(Runnable::run);
    }
  }
}
