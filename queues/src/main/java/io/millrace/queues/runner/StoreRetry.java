package io.millrace.queues.runner;

import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.QueuesException.LostClaimException;
import io.millrace.work.Backoff;
import java.time.Duration;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Attempts that are repeated while the server cannot be reached; for one operation. */
final class StoreRetry {
  private static final Logger LOG = LoggerFactory.getLogger(StoreRetry.class);

  private final Backoff backoff = new Backoff(Duration.ofMillis(50), Duration.ofSeconds(2));

  /**
   * Repeats an operation until there is an answer, however long that takes.
   *
   * @param what it is, for the log
   * @throws LostClaimException if the claim is lost
   * @throws InvalidRequestException if the store would never take it
   */
  static <T> T untilAnswered(String what, Supplier<T> operation) throws InterruptedException {
    StoreRetry retry = new StoreRetry();
    while (true) {
      try {
        return operation.get();
      } catch (LostClaimException | InvalidRequestException e) {
        throw e;
      } catch (RuntimeException e) {
        retry.pause(what, e);
      }
    }
  }

  /** Pauses after a failure; the first one is logged. */
  void pause(String what, Exception failure) throws InterruptedException {
    if (!backoff.hasFailed()) {
      LOG.warn("{} is tried again until it succeeds: {}", what, failure.toString());
    }
    backoff.pause();
  }
}
