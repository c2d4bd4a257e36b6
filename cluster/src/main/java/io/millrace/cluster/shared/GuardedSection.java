package io.millrace.cluster.shared;

import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.Lease;
import io.millrace.cluster.lock.LeaseLostException;
import io.millrace.cluster.lock.MemberClock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Waits for a lock, runs code on the same thread while it is held, and releases it. */
final class GuardedSection {
  /** A century, which means no limit. */
  private static final Duration FOREVER = Duration.ofDays(36_500);

  private final String what;
  private final SharedState.LocalWaiters line;
  private final MemberClock clock;
  private final Supplier<FairAcquirer> acquirers;

  /**
   * Creates a section that is not entered yet.
   *
   * @param what the name of the lock, for messages
   * @param acquirers creates acquirers, whose first step reads the lock
   */
  GuardedSection(
      String what,
      SharedState.LocalWaiters line,
      MemberClock clock,
      Supplier<FairAcquirer> acquirers) {
    this.what = what;
    this.line = line;
    this.clock = clock;
    this.acquirers = acquirers;
  }

  /** Waits for the lock without a time limit, runs code, and releases the lock. */
  <G extends Guard, T extends @Nullable Object, E extends Exception> T run(
      Function<Lease, G> guards, GuardedCode<G, T, E> code) throws E, InterruptedException {
    try {
      return run(FOREVER, guards, code);
    } catch (TimeoutException e) {
      throw new IllegalStateException("a century has passed", e);
    }
  }

  /**
   * The same with a maximum wait.
   *
   * @param guards creates the guard for the code
   * @throws TimeoutException if the lock could not be acquired in time
   */
  <G extends Guard, T extends @Nullable Object, E extends Exception> T run(
      Duration max, Function<Lease, G> guards, GuardedCode<G, T, E> code)
      throws E, InterruptedException, TimeoutException {
    Duration wait = max.compareTo(FOREVER) > 0 ? FOREVER : max;
    SharedState.Acquired acquired = line.acquire(acquirers, clock, wait);
    if (acquired == null) {
      throw new TimeoutException(
          "%s could not be acquired within %d ms".formatted(what, max.toMillis()));
    }
    Thread thread = Thread.currentThread();
    Lease lease = acquired.lease();
    line.entered(thread);
    try {
      return new Holder(acquired).run(guards.apply(lease), code);
    } finally {
      line.left(thread, lease.key());
    }
  }

  /**
   * The thread while it holds the lock. A second thread renews the lease and releases it. A timer
   * interrupts the code when the lease has ended, because a request of the second thread may take
   * longer than the lease.
   */
  private final class Holder {
    private final Lease lease;
    private final FairAcquirer acquirer;
    private final Thread thread = Thread.currentThread();
    private final CountDownLatch over = new CountDownLatch(1);
    private CompletableFuture<@Nullable Void> timer = new CompletableFuture<>();
    private boolean running = true;
    private boolean lost;
    private boolean interrupted;

    Holder(SharedState.Acquired acquired) {
      this.lease = acquired.lease();
      this.acquirer = acquired.acquirer();
    }

    /**
     * Runs code, and releases the lock when the code returns or throws.
     *
     * @throws LeaseLostException if the lock was lost before the code ended
     */
    <G extends Guard, T extends @Nullable Object, E extends Exception> T run(
        G guard, GuardedCode<G, T, E> code) throws E {
      Thread renewer = Thread.ofVirtual().name("lock-" + lease.fence()).start(this::renew);
      watch();
      try {
        T result = code.run(guard);
        if (end()) {
          throw new LeaseLostException(lostMessage());
        }
        return result;
      } catch (LeaseLostException e) {
        throw e;
      } catch (Exception e) {
        if (end()) {
          throw new LeaseLostException(lostMessage(), e);
        }
        throw e;
      } finally {
        end();
        over.countDown();
        join(renewer);
      }
    }

    private String lostMessage() {
      return "the lease on %s with fence %d ended before the code that it protects"
          .formatted(what, lease.fence());
    }

    /**
     * Ends the protection: the thread is not interrupted any more. Returns whether the lock was
     * lost before.
     */
    private synchronized boolean end() {
      if (running) {
        running = false;
        timer.complete(null);
        lost |= !lease.isHeld();
        if (interrupted) {
          // The interrupt was meant for the code, which has ended.
          Thread.interrupted();
        }
      }
      return lost;
    }

    private synchronized void lose() {
      if (running && !lost) {
        lost = true;
        interrupted = !thread.isInterrupted();
        thread.interrupt();
      }
    }

    private void renew() {
      try {
        boolean ended;
        do {
          long millis = lease.nextMillis() - clock.monotonicMillis();
          ended = over.await(millis, TimeUnit.MILLISECONDS) || !lease.step();
        } while (!ended);
        lose();
        over.await();
      } catch (InterruptedException e) {
        lose();
      }
      acquirer.release();
    }

    /** Sets a timer for the end of the lease, and a new one if the lease was renewed by then. */
    private synchronized void watch() {
      if (!lease.isHeld()) {
        lose();
      } else if (running) {
        timer = new CompletableFuture<>();
        var _ =
            timer
                .orTimeout(lease.remaining().toMillis(), TimeUnit.MILLISECONDS)
                .exceptionally(_ -> {
                  watch();
                  return null;
                });
      }
    }

    /** Waits for the renewing thread, which ends when its request is answered. */
    private static void join(Thread renewer) {
      boolean wasInterrupted = false;
      while (renewer.isAlive()) {
        try {
          renewer.join();
        } catch (InterruptedException _) {
          wasInterrupted = true;
        }
      }
      if (wasInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
