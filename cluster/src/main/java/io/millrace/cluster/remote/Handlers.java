package io.millrace.cluster.remote;

import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.member.Seat;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs handlers one after the other on a thread of their own, as long as their member leads. */
final class Handlers {
  private static final Logger LOG = LoggerFactory.getLogger(Handlers.class);

  private final Seat seat;
  private final Guard leader;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(Thread.ofVirtual().name("crew").factory());

  Handlers(Seat seat, Guard leader) {
    this.seat = seat;
    this.leader = leader;
  }

  /** Runs one when all before it have been; never where leadership is lost by then. */
  void queue(String id, Runnable handler) {
    try {
      thread.execute(() -> run(id, handler));
    } catch (RejectedExecutionException e) {
      LOG.debug("A handler of {} comes after leadership was lost", id, e);
    }
  }

  private void run(String id, Runnable handler) {
    if (!leader.isHeld()) {
      return;
    }
    try {
      seat.carry(
          leader,
          () -> {
            handler.run();
            return true;
          });
    } catch (Exception | LinkageError | StackOverflowError | AssertionError e) {
      LOG.warn("A handler of lambda {} failed", id, e);
    }
  }

  /** Runs none any more, and interrupts the one that runs. */
  void end() {
    thread.shutdownNow();
  }
}
