package io.millrace.work;

import io.millrace.store.PositionLostException;
import io.millrace.store.StoreClosedException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells when things end, any number of them, by one stream of changes, which is open only while
 * something is followed. To be closed before the store. Safe for use by threads.
 *
 * @param <K> the name of a thing
 * @param <V> a thing as it was at some moment
 */
public final class SharedWatch<K, V> implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SharedWatch.class);
  private static final Duration ROUND = Duration.ofSeconds(1);

  private final Watch.Source<K, V> source;
  private final Map<K, CompletableFuture<@Nullable V>> pending = new ConcurrentHashMap<>();
  private final Semaphore begun = new Semaphore(0);
  private final AtomicBoolean started = new AtomicBoolean();
  private final Thread thread;
  private volatile boolean closed;

  /** A watch that has a virtual thread of this name once something is followed. */
  public SharedWatch(String name, Watch.Source<K, V> source) {
    this.source = source;
    this.thread = Thread.ofVirtual().name(name).unstarted(this::run);
  }

  /**
   * Completes when a thing has ended, with the thing as it is then; null if it is not there. Blocks
   * for a first look only.
   */
  public CompletableFuture<@Nullable V> follow(K key) {
    CompletableFuture<@Nullable V> end =
        pending.computeIfAbsent(key, _ -> new CompletableFuture<>());
    if (started.compareAndSet(false, true)) {
      thread.start();
    }
    begun.release();
    look(List.of(key));
    return end;
  }

  private void look(Iterable<K> keys) {
    for (K key : keys) {
      note(key, source.read(Set.of(key)).get(key));
    }
  }

  private void note(K key, @Nullable V state) {
    if (source.isOver(state)) {
      CompletableFuture<@Nullable V> waiting = pending.remove(key);
      if (waiting != null) {
        waiting.complete(state);
      }
    }
  }

  private void run() {
    try {
      while (!closed) {
        begun.acquire();
        begun.drainPermits();
        while (!closed && !pending.isEmpty()) {
          follow();
        }
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } catch (StoreClosedException _) {
      LOG.debug("{} ends, because the store is closed", thread.getName());
    }
  }

  private void follow() throws InterruptedException {
    try (Watch.Changes<K, V> changes = source.open()) {
      look(pending.keySet());
      while (!closed && !pending.isEmpty()) {
        changes.next(ROUND, pending::containsKey).forEach(this::note);
      }
    } catch (PositionLostException _) {
      LOG.debug("changes came too fast to follow one by one; looking at all again");
    } catch (StoreClosedException e) {
      throw e;
    } catch (RuntimeException | Error e) {
      LOG.warn("{} failed; the next try comes in a second", thread.getName(), e);
      var _ = begun.tryAcquire(ROUND.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  /** Ends nothing that is followed; closing twice is safe. */
  @Override
  public void close() {
    closed = true;
    if (!started.get()) {
      return;
    }
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }
}
