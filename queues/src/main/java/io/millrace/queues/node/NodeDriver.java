package io.millrace.queues.node;

import io.millrace.queues.Queues;
import io.millrace.store.Commit;
import io.millrace.store.Subscription;
import io.millrace.store.TaskStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What lets an execution node live: one virtual thread steps it, another tells it news of the
 * store. Safe for use by threads.
 */
public final class NodeDriver implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeDriver.class);
  private static final Duration ROUND = Duration.ofSeconds(30);
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final long FIRST_PAUSE_MILLIS = 50;
  private static final long LONGEST_PAUSE_MILLIS = 2_000;

  private final ExecutionNode node;
  private final TaskStore store;
  private final Semaphore wakes = new Semaphore(0);
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private final Thread stepper;
  private final Thread hearer;

  private NodeDriver(ExecutionNode node, TaskStore store) {
    this.node = node;
    this.store = store;
    this.stepper = Thread.ofVirtual().name("millrace-node").unstarted(this::live);
    this.hearer = Thread.ofVirtual().name("millrace-node-news").unstarted(this::hear);
  }

  /**
   * Lets {@code node} live from now on.
   *
   * @param store tells its news; not closed by the driver
   */
  public static NodeDriver start(ExecutionNode node, TaskStore store) {
    NodeDriver driver = new NodeDriver(node, store);
    node.wakeBy(driver.wakes::release);
    driver.stepper.start();
    driver.hearer.start();
    return driver;
  }

  /** Completes when the node has ended, by itself or by {@link #close}. */
  public CompletableFuture<Void> onEnd() {
    return ended.copy();
  }

  private void live() {
    try {
      for (long wait = 0; wait != ExecutionNode.FINISHED; wait = node.step(System.nanoTime())) {
        if (wait > 0 && wakes.tryAcquire(wait, TimeUnit.NANOSECONDS)) {
          wakes.drainPermits();
        }
      }
      ended.complete(null);
    } catch (InterruptedException e) {
      // Only when the store cannot be reached while the node is to end.
      ended.completeExceptionally(e);
    } catch (RuntimeException | Error e) {
      LOG.error("the node ends because of a fault of its own; tasks that run go on", e);
      ended.completeExceptionally(e);
    }
  }

  private void hear() {
    long pause = FIRST_PAUSE_MILLIS;
    try {
      while (!ended.isDone()) {
        try (Subscription subscription = store.subscribe(Queues.interest())) {
          node.subscribed();
          pause = FIRST_PAUSE_MILLIS;
          listen(subscription);
        } catch (RuntimeException | Error e) {
          LOG.debug("no news of the store, trying again: {}", e.getMessage());
          Thread.sleep(pause);
          pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
        }
      }
    } catch (InterruptedException e) {
      LOG.trace("told to end", e);
    }
  }

  private void listen(Subscription subscription) throws InterruptedException {
    while (!ended.isDone()) {
      Commit commit = subscription.next(ROUND);
      if (commit != null) {
        node.notice(commit);
      }
    }
  }

  /**
   * Ends the node in order: it gives back what no runner has, and its name. Tasks that run go on.
   * Where the store cannot be reached that is left out after ten seconds.
   */
  @Override
  public void close() {
    node.stop();
    try {
      ended.copy().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      LOG.warn("the node ends without the store, which cannot be reached");
    } catch (java.util.concurrent.ExecutionException e) {
      LOG.error("the node had failed", e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      stepper.interrupt();
      hearer.interrupt();
    }
  }
}
