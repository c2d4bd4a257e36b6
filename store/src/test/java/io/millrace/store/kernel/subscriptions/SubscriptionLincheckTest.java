package io.millrace.store.kernel.subscriptions;

import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.records.JournalRecord;
import io.millrace.store.kernel.records.RecordWriter;
import io.millrace.store.kernel.records.Records;
import java.time.Duration;
import java.util.List;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Options;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * While the loop publishes commits, a subscriber goes over from the journal to the chain of new
 * ones, loses its place there as soon as it is two commits behind, goes back to the journal, and
 * sees each commit once, in order, as soon as it is published. If it is closed meanwhile, it hears
 * that and nothing else.
 */
public class SubscriptionLincheckTest {
  /** How many scenarios are drawn; more with {@code -Pfull}. */
  private static final int SCENARIOS = Integer.getInteger("millrace.lincheck.scenarios", 2);

  private static final Owner CLIENT = Owner.client(1);

  /** What is durable, for a reader of its own thread. */
  private static final class Durable {
    private volatile long commits;
  }

  /** Reads a frame for each durable commit. */
  private static final class PastReader implements Journal.Reader {
    private final Durable durable;
    private long read;
    private volatile boolean closed;

    PastReader(Durable durable, long position) {
      this.durable = durable;
      this.read = position;
    }

    @Override
    public @Nullable Frame next() {
      refuseClosed();
      if (read == durable.commits) {
        return null;
      }
      read++;
      RecordWriter out = new RecordWriter();
      Records.write(out, new JournalRecord.Committed(event(read)));
      refuseClosed();
      return new Frame(read, 1, 1, 1, read, read, out.view());
    }

    /** As with files: who reads while it is closed sees it fail. */
    private void refuseClosed() {
      if (closed) {
        throw new JournalException("this reader is closed");
      }
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  private static Event event(long number) {
    List<Change> changes = List.of(new Change.Deleted(number, number, "group"));
    return new Event(number, 1, CLIENT, false, changes, null);
  }

  private static final int BEFORE = 2;
  private static final long CLOSED = -1;

  private final Durable durable = new Durable();
  private final Broadcast broadcast =
      new Broadcast(BEFORE, Limits.defaults().withSubscriberLag(1, 64L << 20));
  private final LiveSubscription subscription;
  private volatile boolean ending;

  /** Begins before the commits that are there already. */
  public SubscriptionLincheckTest() {
    durable.commits = BEFORE;
    Position start = new Position(1, 0);
    subscription =
        new LiveSubscription(
                Interest.everything(),
                start,
                false,
                broadcast,
                new PastJournal(position -> new PastReader(durable, position)),
                Environment.system(),
                _ -> {})
            .open();
  }

  /** As the loop does: what is published is durable already. */
  @Operation(nonParallelGroup = "loop")
  public void publish() {
    long number = durable.commits + 1;
    durable.commits = number;
    broadcast.publish(List.of(event(number)));
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
    ending = true;
    subscription.close();
  }

  /** Whoever has closed a subscription takes no place among the subscribers any more. */
  @Validate
  public void checkPlaces() {
    if (ending && broadcast.size() != 0) {
      throw new IllegalStateException("a closed subscription is in the chain");
    }
  }

  private static <T extends Options<T, ?>> T size(T options) {
    return options.iterations(SCENARIOS).threads(3).actorsPerThread(3);
  }

  @Test
  void every_interleaving_of_a_few_steps_is_linear() {
    size(new ModelCheckingOptions())
        .invocationsPerIteration(50)
        .check(SubscriptionLincheckTest.class);
  }

  @Test
  void threads_at_full_speed_are_linear() {
    // Threads wait for each other by spinning: more of them than processors only take turns.
    size(new StressOptions())
        .threads(2)
        .invocationsPerIteration(200)
        .check(SubscriptionLincheckTest.class);
  }
}
