package io.millrace.server.graph.type;

import io.millrace.store.PositionLostException;
import io.millrace.store.StoreClosedException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells when things come to their end, however many, by one subscription, which is there only while
 * something is followed. To be closed before the store. Safe for use by threads.
 *
 * @param <K> what names a thing
 * @param <E> how it has ended
 */
final class Follower<K, E> implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Follower.class);
  private static final Duration STEP = Duration.ofSeconds(1);

  private final Source<K, E> source;
  private final Map<K, CompletableFuture<E>> pending = new ConcurrentHashMap<>();
  private final Semaphore begun = new Semaphore(0);
  private final AtomicBoolean started = new AtomicBoolean();
  private final Thread thread;
  private volatile boolean closed;

  /** Has a thread once something is followed. */
  Follower(String name, Source<K, E> source) {
    this.source = source;
    this.thread = Thread.ofVirtual().name(name).unstarted(this::run);
  }

  /** Where ends are seen. Safe for use by threads. */
  interface Source<K, E> {
    /** Begins to look at what changes. */
    Ends<K, E> open();

    /** How a thing has ended, if it has. */
    Optional<E> look(K key);
  }

  /** A stream of ends, for one thread. */
  interface Ends<K, E> extends AutoCloseable {
    /**
     * Those of the next change, waiting for it.
     *
     * @return none when the time is over, or where nothing has ended
     * @throws PositionLostException when the stream was read too slowly
     */
    Map<K, E> next(Duration timeout, Predicate<K> wanted) throws InterruptedException;

    @Override
    void close();
  }

  /** Its end, once it has come; blocks for a first look only. */
  CompletableFuture<E> follow(K key) {
    CompletableFuture<E> end = pending.computeIfAbsent(key, _ -> new CompletableFuture<>());
    if (started.compareAndSet(false, true)) {
      thread.start();
    }
    begun.release();
    source.look(key).ifPresent(ended -> end(key, ended));
    return end;
  }

  private void end(K key, E ended) {
    CompletableFuture<E> waiting = pending.remove(key);
    if (waiting != null) {
      waiting.complete(ended);
    }
  }

  private void run() {
    try {
      while (!closed) {
        begun.acquire();
        begun.drainPermits();
        while (!closed && !pending.isEmpty()) {
          serve();
        }
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } catch (StoreClosedException _) {
      // The store has ended, and everything with it.
    }
  }

  private void serve() throws InterruptedException {
    try (Ends<K, E> ends = source.open()) {
      pending.keySet().forEach(key -> source.look(key).ifPresent(ended -> end(key, ended)));
      while (!closed && !pending.isEmpty()) {
        ends.next(STEP, pending::containsKey).forEach(this::end);
      }
    } catch (PositionLostException _) {
      LOG.debug("changes came too fast to follow one by one; looking at all again");
    } catch (StoreClosedException e) {
      throw e;
    } catch (RuntimeException | Error e) {
      LOG.warn("following failed; the next try comes in a second", e);
      var _ = begun.tryAcquire(STEP.toMillis(), TimeUnit.MILLISECONDS);
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
