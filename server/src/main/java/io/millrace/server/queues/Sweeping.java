package io.millrace.server.queues;

import io.millrace.queues.Sweeper;
import io.millrace.store.StoreClosedException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A thread that calls a sweeper whenever it wants to be called. To be closed before its store. */
public final class Sweeping implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Sweeping.class);

  /** When to try again after a failure. */
  private static final long AFTER_FAILURE_MILLIS = 1_000;

  private final Sweeper sweeper;
  private final CountDownLatch over = new CountDownLatch(1);
  private final Thread thread;

  private Sweeping(Sweeper sweeper) {
    this.sweeper = sweeper;
    this.thread = Thread.ofVirtual().name("sweeper").unstarted(this::run);
  }

  /** Begins with a first call at once. */
  public static Sweeping start(Sweeper sweeper) {
    Sweeping sweeping = new Sweeping(sweeper);
    sweeping.thread.start();
    return sweeping;
  }

  private void run() {
    try {
      long wait = 0;
      while (!over.await(wait, TimeUnit.MILLISECONDS)) {
        wait = step();
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } catch (StoreClosedException _) {
      // The store has ended, and everything with it.
    }
  }

  private long step() {
    try {
      return sweeper.step();
    } catch (StoreClosedException e) {
      throw e;
    } catch (RuntimeException e) {
      LOG.warn("sweeping failed; the next try comes in a second", e);
      return AFTER_FAILURE_MILLIS;
    }
  }

  /** Waits for the call under way, if any; there is none after it. Closing twice does nothing. */
  @Override
  public void close() {
    over.countDown();
    try {
      thread.join();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }
}
