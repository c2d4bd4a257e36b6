package io.millrace.server;

import io.millrace.server.shards.ShardedStore.Shard;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StandbyStore;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.JournalException;
import io.millrace.work.Backoff;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lead of a store that other servers share, or of one of its shards: this server follows the
 * store, and leads it whenever nobody else does, until it is told to stop. Thread-safe.
 */
final class SharedLead implements Shard {
  private static final Logger LOG = LoggerFactory.getLogger(SharedLead.class);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

  /** How long {@link #stop} waits for a database. */
  private static final Duration LONGEST_STOP = Duration.ofSeconds(30);

  /** For how long a store that was handed over is left to others. */
  private static final Duration AFTER_HANDING_OVER = Duration.ofSeconds(3);

  private final String name;
  private final Supplier<@Nullable String> address;
  private final Function<@Nullable String, StandbyStore> standbys;
  private final Service service;
  private final Supplier<Duration> patience;
  private final CompletableFuture<Void> began = new CompletableFuture<>();
  private final CompletableFuture<Throwable> stopped = new CompletableFuture<>();
  private final CompletableFuture<Void> closing = new CompletableFuture<>();
  private volatile @Nullable Thread waiting;
  private volatile @Nullable StandbyStore standby;
  private volatile @Nullable EmbeddedTaskStore led;
  private volatile @Nullable CompletableFuture<Throwable> handingOver;
  private volatile long patientUntilNanos = System.nanoTime();

  /** What a server does with a store. Called by one thread. */
  interface Service {
    /** It follows the store. */
    default void follows(StandbyStore standby) {}

    /** Checks a store that it leads, before anything else is done with it. */
    void check(EmbeddedTaskStore store);

    /** It leads the store; if this fails, the store is closed. */
    void begin(EmbeddedTaskStore store);

    /**
     * It does not lead any more. Closes the store, which may have stopped before.
     *
     * @return whether it may follow and lead again
     */
    boolean end(EmbeddedTaskStore store, Throwable cause);
  }

  /** Why a server has ended a lead that it might have kept. */
  private static final class HandedOverException extends StoreException {
    private static final long serialVersionUID = 1;

    HandedOverException(String to) {
      super("it is handed over to " + to);
    }
  }

  /**
   * A lead to wait for.
   *
   * @param name of the thread
   * @param address where clients reach this server; null if it does not listen
   * @param standbys a standby with that address, for each time that it follows
   * @param patience for how long the lead is left to others when nobody has it
   */
  SharedLead(
      String name,
      Supplier<@Nullable String> address,
      Function<@Nullable String, StandbyStore> standbys,
      Service service,
      Supplier<Duration> patience) {
    this.name = name;
    this.address = address;
    this.standbys = standbys;
    this.service = service;
    this.patience = patience;
  }

  void start() {
    waiting = Thread.ofPlatform().name(name).start(this::takeTurns);
  }

  /** Completes when it leads for the first time; fails if it cannot, because it has stopped. */
  CompletableFuture<Void> began() {
    return began;
  }

  /** Completes, with the cause, when it has given up. */
  CompletableFuture<Throwable> stopped() {
    return stopped;
  }

  /** Leads whenever nobody else does, until it is stopped. */
  private void takeTurns() {
    Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);
    while (!closing.isDone()) {
      try {
        Throwable cause = leadOnce();
        EmbeddedTaskStore lost = led;
        if (cause == null) {
          return;
        }
        led = null;
        // If it was lost while the store was checked, nothing has begun.
        if (lost != null && !service.end(lost, cause)) {
          stopped.complete(cause);
          return;
        }
        backoff.succeeded();
      } catch (StoreClosedException e) {
        LOG.debug("the standby ends", e);
      } catch (RuntimeException | Error e) {
        led = null;
        StandbyStore last = standby;
        boolean hasFollowed = last != null && last.view().position() != null;
        boolean mayPass = e instanceof JournalException && !(e instanceof DamagedJournalException);
        if (!mayPass || !(hasFollowed || began.isDone())) {
          began.completeExceptionally(e);
          stopped.complete(e);
          return;
        }
        LOG.warn("the store cannot be followed, and is tried again: {}", e.getMessage());
        awaitClosing(backoff.next());
      }
    }
  }

  private void awaitClosing(Duration most) {
    try {
      var _ = closing.get(most.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException _) {
      // The next attempt is due.
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Waits for the lead, and keeps it until it is lost or handed over.
   *
   * @return why it ended; null if this is being stopped
   */
  private @Nullable Throwable leadOnce() {
    StandbyStore next = standbys.apply(address.get());
    standby = next;
    service.follows(next);
    if (closing.isDone()) {
      next.close();
    }
    EmbeddedTaskStore store = next.lead(this::patience);
    CompletableFuture<Throwable> lost = store.stopped();
    CompletableFuture<Throwable> handedOver = new CompletableFuture<>();
    try {
      var _ =
          MillraceServer.orClose(
              store,
              () -> {
                service.check(store);
                led = store;
                service.begin(store);
                return store;
              });
      handingOver = handedOver;
      began.complete(null);
    } catch (RuntimeException e) {
      if (!lost.isDone()) {
        throw e;
      }
      LOG.debug("the lead was lost while it began", e);
    }
    var _ = CompletableFuture.anyOf(lost, handedOver, closing).join();
    handingOver = null;
    if (closing.isDone()) {
      return null;
    }
    return handedOver.isDone() ? handedOver.join() : lost.join();
  }

  private Duration patience() {
    Duration own = Duration.ofNanos(Math.max(0, patientUntilNanos - System.nanoTime()));
    Duration other = patience.get();
    return own.compareTo(other) > 0 ? own : other;
  }

  @Override
  public boolean handOver(String to) {
    CompletableFuture<Throwable> current = handingOver;
    if (current == null) {
      return false;
    }
    patientUntilNanos = System.nanoTime() + AFTER_HANDING_OVER.toNanos();
    return current.complete(new HandedOverException(to));
  }

  @Override
  public @Nullable EmbeddedTaskStore led() {
    return led;
  }

  @Override
  public @Nullable StandbyStore following() {
    return led == null ? standby : null;
  }

  @Override
  public @Nullable String leader() {
    StandbyStore current = following();
    String leader = current == null ? null : current.view().leader();
    // Until its lease ends, a lead that this server has lost may still be announced.
    return leader == null || leader.equals(address.get()) ? null : leader;
  }

  /** Closes the store that it led when it was stopped. */
  void close() {
    EmbeddedTaskStore last = led;
    led = null;
    if (last != null) {
      close(last);
    }
  }

  /** Closes a store, which may have stopped before. */
  static void close(EmbeddedTaskStore store) {
    try {
      store.close();
    } catch (StoreException e) {
      LOG.debug("the store has stopped before", e);
    }
  }

  /** Waits for no lead any more. A store that it leads stays open, for its owner to close. */
  void stop() {
    closing.complete(null);
    StandbyStore follower = standby;
    if (follower != null) {
      follower.close();
    }
    Thread thread = waiting;
    if (thread != null) {
      try {
        if (!thread.join(LONGEST_STOP)) {
          LOG.warn("the server still waits for its database");
        }
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
