package io.millrace.store.kernel.subscriptions;

import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.environment.Environment;
import io.millrace.store.kernel.records.Event;
import java.time.Duration;
import java.util.List;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Options;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/**
 * A subscriber that walks the chain of new commits misses none when the loop publishes, and hears
 * of its end when it or the store is closed.
 */
public class LiveSubscriptionLincheckTest {
  /** How many scenarios are drawn; more with {@code -Pfull}. */
  private static final int SCENARIOS = Integer.getInteger("millrace.lincheck.scenarios", 2);

  private static final long CLOSED = -1;

  private final Broadcast broadcast =
      new Broadcast(0, Limits.defaults().withSubscriberLag(1_000, 64L << 20));
  private final LiveSubscription subscription =
      new LiveSubscription(
          Interest.everything(),
          new Position(1, 0),
          true,
          broadcast,
          new PastJournal(_ -> null),
          Environment.system(),
          _ -> {});
  private long published;

  /** Only the loop publishes. */
  @Operation(nonParallelGroup = "loop")
  public void publish() {
    published++;
    Change change = new Change.Deleted(published, published, "group");
    Owner client = Owner.client(1);
    broadcast.publish(List.of(new Event(published, 1, client, false, List.of(change), null)));
  }

  /** The number of the next commit, 0 where there is none yet. */
  @Operation(nonParallelGroup = "subscriber")
  public long next() throws InterruptedException {
    try {
      Commit commit = subscription.next(Duration.ZERO);
      return commit == null ? 0 : commit.position().number();
    } catch (StoreClosedException _) {
      return CLOSED;
    }
  }

  /** By any thread. */
  @Operation(runOnce = true)
  public void close() {
    subscription.close();
  }

  /** Only the loop ends the chain, and publishes nothing afterwards. */
  @Operation(runOnce = true, nonParallelGroup = "loop")
  public void closeStore() {
    broadcast.close();
  }

  private static <T extends Options<T, ?>> T size(T options) {
    return options.iterations(SCENARIOS).threads(3).actorsPerThread(2);
  }

  @Test
  void every_interleaving_of_a_few_steps_is_linear() {
    size(new ModelCheckingOptions())
        .invocationsPerIteration(50)
        .check(LiveSubscriptionLincheckTest.class);
  }

  @Test
  void threads_at_full_speed_are_linear() {
    // Threads wait for each other by spinning: more of them than processors only take turns.
    size(new StressOptions())
        .threads(2)
        .actorsPerThread(3)
        .invocationsPerIteration(200)
        .check(LiveSubscriptionLincheckTest.class);
  }
}
