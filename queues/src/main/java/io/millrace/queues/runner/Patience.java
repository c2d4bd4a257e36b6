package io.millrace.queues.runner;

import io.millrace.queues.InvalidRequestException;
import io.millrace.queues.LostClaimException;
import java.time.Duration;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Trying again while the server is away. */
final class Patience {
  private static final Logger LOG = LoggerFactory.getLogger(Patience.class);
  private static final Duration FIRST = Duration.ofMillis(50);
  private static final Duration LONGEST = Duration.ofSeconds(2);

  private Duration pause = FIRST;
  private boolean said;

  /**
   * Tries until there is an answer, for as long as it takes.
   *
   * @throws LostClaimException when the claim is lost
   * @throws InvalidRequestException when the store would never take it
   */
  static <T> T insist(String what, Supplier<T> step) throws InterruptedException {
    Patience patience = new Patience();
    while (true) {
      try {
        return step.get();
      } catch (LostClaimException | InvalidRequestException e) {
        throw e;
      } catch (RuntimeException e) {
        patience.rest(what, e);
      }
    }
  }

  /** Pauses after a failure, twice as long each time up to 2 seconds. */
  void rest(String what, Exception failure) throws InterruptedException {
    if (!said) {
      said = true;
      LOG.warn("{} is tried again until it succeeds: {}", what, failure.toString());
    }
    Thread.sleep(pause);
    pause = pause.multipliedBy(2).compareTo(LONGEST) > 0 ? LONGEST : pause.multipliedBy(2);
  }
}
