package io.millrace.store;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A stream of durable commits, each once and in order. For use by one thread at a time. */
public interface Subscription extends AutoCloseable {
  /** Where the subscription began: the first commit to come is after it. */
  Position start();

  /**
   * The next commit that has a change of interest, waiting for it.
   *
   * @param timeout how long to wait in real time
   * @return the commit with only the changes of interest, or null when the time is over
   * @throws PositionLostException when the subscriber was too slow
   * @throws StoreClosedException when the store or the subscription is closed
   * @throws InterruptedException when the thread was interrupted
   */
  @Nullable Commit next(Duration timeout) throws InterruptedException;

  /** Ends the subscription. */
  @Override
  void close();
}
