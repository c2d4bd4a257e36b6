package io.millrace.work;

import io.millrace.store.Commit;
import io.millrace.store.PositionLostException;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a subscription to the store open, on a virtual thread of its own, and passes on what it
 * brings. A subscription that fails or cannot be opened is opened again, after 50 ms at first and
 * after up to 2 seconds later on. Safe for use by threads.
 */
public final class Subscriber implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Subscriber.class);
  private static final Duration ROUND = Duration.ofSeconds(30);
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final TaskStore store;
  private final Interest interest;
  private final Listener listener;
  private final Thread thread;
  private volatile boolean closed;

  /** Gets what a subscription brings, on one thread; what it throws opens the subscription anew. */
  public interface Listener {
    /** A subscription was opened: commits from now on are told, earlier ones may be missing. */
    void opened();

    /** A commit with at least one change of interest. */
    void committed(Commit commit);
  }

  private Subscriber(String name, TaskStore store, Interest interest, Listener listener) {
    this.store = store;
    this.interest = interest;
    this.listener = listener;
    this.thread = Thread.ofVirtual().name(name).unstarted(this::run);
  }

  /** Subscribes from now on. */
  public static Subscriber start(
      String name, TaskStore store, Interest interest, Listener listener) {
    Subscriber subscriber = new Subscriber(name, store, interest, listener);
    subscriber.thread.start();
    return subscriber;
  }

  private void run() {
    Backoff backoff = Backoff.untilAnswered(Duration.ofMillis(50), Duration.ofSeconds(2));
    try {
      while (!closed) {
        try (Subscription subscription = store.subscribe(interest)) {
          listener.opened();
          var _ = backoff.succeeded();
          listen(subscription);
        } catch (PositionLostException _) {
          LOG.info("{} was too slow to see every change; it begins anew", thread.getName());
        } catch (RuntimeException | Error e) {
          LOG.debug("{} has no news of the store, and tries again", thread.getName(), e);
          backoff.pause();
        }
      }
    } catch (InterruptedException _) {
      // Closed.
    }
  }

  private void listen(Subscription subscription) throws InterruptedException {
    while (!closed) {
      Commit commit = subscription.next(ROUND);
      if (commit != null) {
        listener.committed(commit);
      }
    }
  }

  /** Ends the subscription; waits up to 10 seconds for a listener that is being called. */
  @Override
  public void close() {
    closed = true;
    thread.interrupt();
    try {
      if (!Thread.currentThread().equals(thread)) {
        var _ = thread.join(PATIENCE);
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }
}
