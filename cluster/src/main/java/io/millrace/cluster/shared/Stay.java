package io.millrace.cluster.shared;

import io.millrace.cluster.lock.Contest;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.LeaseLostException;
import io.millrace.cluster.lock.Tenure;
import io.millrace.cluster.time.MemberClock;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The time that a thread spends inside a lock. Beside it one thread keeps the lock and gives it
 * back, and another watches: what is asked of the documents may take longer than the lease lasts.
 */
final class Stay {
  private final String what;
  private final Contest contest;
  private final Tenure tenure;
  private final MemberClock clock;
  private final Thread visitor = Thread.currentThread();
  private final CountDownLatch over = new CountDownLatch(1);
  private boolean inside = true;
  private boolean lost;
  private boolean interrupted;

  /** Begins on the thread that has won the contest. */
  Stay(String what, Contest contest, Tenure tenure, MemberClock clock) {
    this.what = what;
    this.contest = contest;
    this.tenure = tenure;
    this.clock = clock;
  }

  /**
   * Runs code, and gives the lock back whatever comes of it.
   *
   * @throws LeaseLostException where the lock was lost before the code had ended
   */
  <G extends Guard, T extends @Nullable Object, E extends Exception> T run(
      G guard, GuardedCode<G, T, E> code) throws E {
    Thread keeper = Thread.ofVirtual().name("lock-" + tenure.fence()).start(this::keep);
    Thread watch = Thread.ofVirtual().name("watch-" + tenure.fence()).start(this::watch);
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
      join(keeper);
      join(watch);
    }
  }

  private String lostMessage() {
    return "the lease on %s with fence %d ended before what it protects"
        .formatted(what, tenure.fence());
  }

  /** The thread is not interrupted from now on; whether the lock was lost before. */
  private synchronized boolean end() {
    if (inside) {
      inside = false;
      lost |= !tenure.isHeld();
      if (interrupted) {
        // It was for the code, which has ended.
        Thread.interrupted();
      }
    }
    return lost;
  }

  private synchronized void lose() {
    if (inside && !lost) {
      lost = true;
      interrupted = !visitor.isInterrupted();
      visitor.interrupt();
    }
  }

  private void keep() {
    try {
      boolean ended = false;
      while (!ended) {
        if (tenure.step()) {
          ended = await(tenure.nextMillis() - clock.monotonicMillis());
        } else {
          lose();
          over.await();
          ended = true;
        }
      }
    } catch (InterruptedException e) {
      lose();
    }
    contest.release();
  }

  private void watch() {
    try {
      while (tenure.isHeld()) {
        if (await(tenure.remaining().toMillis())) {
          return;
        }
      }
      lose();
    } catch (InterruptedException e) {
      lose();
    }
  }

  private boolean await(long millis) throws InterruptedException {
    return over.await(millis, TimeUnit.MILLISECONDS);
  }

  /** Waits for a thread of ours, which ends when its request has an answer. */
  private static void join(Thread thread) {
    boolean asked = false;
    boolean ended = false;
    while (!ended) {
      try {
        thread.join();
        ended = true;
      } catch (InterruptedException e) {
        asked = true;
      }
    }
    if (asked) {
      Thread.currentThread().interrupt();
    }
  }
}
