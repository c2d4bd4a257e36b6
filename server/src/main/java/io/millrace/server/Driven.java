package io.millrace.server;

import io.millrace.store.StoreClosedException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A thread that calls a step whenever that wants to be called. To be closed before its store. */
final class Driven implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Driven.class);

  /** When to try again after a failure. */
  private static final long AFTER_FAILURE_MILLIS = 1_000;

  private final String name;
  private final LongSupplier step;
  private final CountDownLatch over = new CountDownLatch(1);
  private final Thread thread;

  private Driven(String name, LongSupplier step) {
    this.name = name;
    this.step = step;
    this.thread = Thread.ofVirtual().name(name).unstarted(this::run);
  }

  /**
   * Begins with a first call at once.
   *
   * @param step gives the milliseconds until its next call
   */
  static Driven start(String name, LongSupplier step) {
    Driven driven = new Driven(name, step);
    driven.thread.start();
    return driven;
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
      return step.getAsLong();
    } catch (StoreClosedException e) {
      throw e;
    } catch (RuntimeException | Error e) {
      // Errors too: nobody else would do it.
      LOG.warn("{} failed; the next try comes in a second", name, e);
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
