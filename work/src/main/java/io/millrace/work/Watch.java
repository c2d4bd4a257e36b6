package io.millrace.work;

import io.millrace.store.Commit;
import io.millrace.store.Document;
import io.millrace.store.PositionLostException;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Watches some things until all of them have ended. One that has ended is not looked at again,
 * unless the source says that it can reopen. For use by one thread; to be closed.
 *
 * @param <K> the name of a thing
 * @param <V> a thing as it was at some moment
 */
public final class Watch<K, V> implements AutoCloseable {
  private final Source<K, V> source;
  private final Map<K, @Nullable V> states = new LinkedHashMap<>();
  private final Map<K, V> lastStates = new LinkedHashMap<>();
  private final Set<K> pending = new HashSet<>();
  private Changes<K, V> changes;

  /** Things that change and end. Safe for use by threads. */
  public interface Source<K, V> {
    /** Opens a stream of changes, from now on. */
    Changes<K, V> open();

    /** Those of these things that are there, as they are now. */
    Map<K, V> read(Collection<K> keys);

    /**
     * Whether a thing has ended.
     *
     * @param state null if it is not there
     */
    boolean isOver(@Nullable V state);

    /** Whether a thing that has ended can go on, so that all must have ended at the same time. */
    default boolean canReopen() {
      return false;
    }
  }

  /** A stream of changes, for one thread. */
  public interface Changes<K, V> extends AutoCloseable {
    /**
     * The next changes, waiting for some.
     *
     * @param timeout how long to wait at most
     * @param wanted the things of interest; others are not even read
     * @return things as they are after their changes, null for those that are gone; empty when the
     *     time is over, or if only others changed
     * @throws PositionLostException if the stream was read too slowly
     */
    Map<K, @Nullable V> next(Duration timeout, Predicate<K> wanted) throws InterruptedException;

    @Override
    void close();
  }

  private Watch(Source<K, V> source, Collection<K> keys) {
    this.source = source;
    keys.forEach(key -> states.put(key, null));
    pending.addAll(keys);
    this.changes = source.open();
  }

  /** Begins to watch things of these names. */
  public static <K, V> Watch<K, V> begin(Source<K, V> source, Collection<K> keys) {
    Watch<K, V> watch = new Watch<>(source, keys);
    try {
      watch.read();
      return watch;
    } catch (RuntimeException e) {
      watch.close();
      throw e;
    }
  }

  /**
   * The changes of the documents of a collection, from now on.
   *
   * @param key the name of a thing, from the key of its document
   * @param read a thing, from its document
   */
  public static <K, V> Changes<K, V> documents(
      TaskStore store, String collection, Function<String, K> key, Function<Document, V> read) {
    Subscription commits = store.subscribe(new Interest(null, Set.of(), Set.of(collection)));
    return new Changes<>() {
      @Override
      public Map<K, @Nullable V> next(Duration timeout, Predicate<K> wanted)
          throws InterruptedException {
        Map<K, @Nullable V> found = new LinkedHashMap<>();
        Commit commit = commits.next(timeout);
        if (commit != null) {
          commit.forEachDocument((changed, document) -> {
            K name = key.apply(changed.key());
            if (wanted.test(name)) {
              found.put(name, document == null ? null : read.apply(document));
            }
          });
        }
        return found;
      }

      @Override
      public void close() {
        commits.close();
      }
    };
  }

  private void read() {
    Set<K> open = Set.copyOf(source.canReopen() ? states.keySet() : pending);
    Map<K, V> found = source.read(open);
    open.forEach(key -> note(key, found.get(key)));
  }

  private void note(K key, @Nullable V state) {
    states.put(key, state);
    if (state != null) {
      lastStates.put(key, state);
    }
    if (source.isOver(state)) {
      pending.remove(key);
    } else {
      pending.add(key);
    }
  }

  /** Each thing as it was last known, in the order given; null for those that are not there. */
  public Map<K, @Nullable V> states() {
    return states;
  }

  /** As {@link #states}, but one that is gone as it was before; those never there are missing. */
  public Map<K, V> lastStates() {
    return lastStates;
  }

  /** How many have not ended. */
  public int pending() {
    return pending.size();
  }

  /** Waits for news up to a time; returns at once if all have ended. */
  public void await(Duration timeout) throws InterruptedException {
    if (pending.isEmpty()) {
      return;
    }
    try {
      Predicate<K> wanted = source.canReopen() ? states::containsKey : pending::contains;
      changes.next(timeout, wanted).forEach(this::note);
    } catch (PositionLostException _) {
      // Too much has happened to follow it one by one.
      changes.close();
      changes = source.open();
      read();
    }
  }

  @Override
  public void close() {
    changes.close();
  }
}
