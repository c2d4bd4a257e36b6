package io.millrace.store.kernel;

import io.millrace.store.Commit.Change;
import io.millrace.store.Owner;
import io.millrace.store.environment.Driver;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import io.millrace.store.kernel.records.Event;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Options;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * While the loop hands over groups, another thread makes them durable or fails: the loop is woken
 * for each and finds every commit once, in order.
 */
public class JournalFeedLincheckTest {
  /** How many scenarios are drawn; more with {@code -Pfull}. */
  private static final int SCENARIOS = Integer.getInteger("millrace.lincheck.scenarios", 2);

  /** Frames that become durable when told, on the thread that tells. */
  private static final class Frames implements Journal.Leader {
    private final ArrayDeque<CompletableFuture<Void>> pending = new ArrayDeque<>();
    private boolean broken;

    @Override
    public synchronized CompletableFuture<Void> append(Frame frame) {
      if (broken) {
        return CompletableFuture.failedFuture(new JournalException("the disk is broken"));
      }
      CompletableFuture<Void> done = new CompletableFuture<>();
      pending.add(done);
      return done;
    }

    @Override
    public synchronized boolean takeBack(Frame frame) {
      return pending.pollLast() != null;
    }

    private synchronized @Nullable CompletableFuture<Void> next() {
      return pending.poll();
    }

    private synchronized List<CompletableFuture<Void>> breakDown() {
      broken = true;
      List<CompletableFuture<Void>> lost = List.copyOf(pending);
      pending.clear();
      return lost;
    }

    @Override
    public Journal.Tail tail() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Journal.SnapshotWriter snapshot(Frame frame) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Journal.@Nullable Reader read(long position) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void trim(long keepAfterPosition) {}
  }

  /** Counts how often the loop was woken. */
  private static final class Bell implements Driver {
    private final AtomicInteger rung = new AtomicInteger();

    @Override
    public void signal() {
      rung.incrementAndGet();
    }

    @Override
    public void join() {}
  }

  private final Frames frames = new Frames();
  private final JournalFeed feed = new JournalFeed(frames, 1, 1, 0, 0);
  private final Bell bell = new Bell();
  private final AtomicInteger settled = new AtomicInteger();
  private int seenAtOnce;
  private long commits;

  /** A feed with a bell. */
  public JournalFeedLincheckTest() {
    feed.bell(bell);
  }

  /** The loop decides something. */
  @Operation(nonParallelGroup = "loop")
  public void commit() {
    commits++;
    List<Change> changes = List.of(new Change.Deleted(commits, commits, "group"));
    feed.add(new Event(commits, 1, Owner.client(1), false, changes, null), 1);
  }

  /** The number of the frame that was handed over, 0 where there is none. */
  @Operation(nonParallelGroup = "loop")
  public long flush() {
    Frame frame = feed.flush(1, commits, true);
    if (frame != null && feed.durableSequence() >= frame.sequence()) {
      // The loop looks what is durable after each flush, so it need not be woken for this one.
      seenAtOnce++;
    }
    return frame == null ? 0 : frame.sequence();
  }

  /** The commits that have become durable. */
  @Operation(nonParallelGroup = "loop")
  public List<Long> takeDurable() {
    return feed.takeDurable().stream().map(Event::number).toList();
  }

  /** The thread that syncs has made a frame durable. */
  @Operation(nonParallelGroup = "sync")
  public boolean sync() {
    CompletableFuture<Void> done = frames.next();
    if (done == null) {
      return false;
    }
    done.complete(null);
    settled.incrementAndGet();
    return true;
  }

  /** The thread that syncs cannot. */
  @Operation(runOnce = true, nonParallelGroup = "sync")
  public int breakDown() {
    List<CompletableFuture<Void>> lost = frames.breakDown();
    for (CompletableFuture<Void> done : lost) {
      done.completeExceptionally(new JournalException("the disk is broken"));
      settled.incrementAndGet();
    }
    return lost.size();
  }

  /** Whoever writes a snapshot looks how far the journal is durable. */
  @Operation
  public long durableSequence() {
    return feed.durableSequence();
  }

  /** When all is over. */
  @Validate
  public void checkWoken() {
    if (bell.rung.get() + seenAtOnce < settled.get()) {
      throw new IllegalStateException("the loop was not woken for a frame");
    }
  }

  private static <T extends Options<T, ?>> T size(T options) {
    return options.iterations(SCENARIOS).threads(3).actorsPerThread(3);
  }

  @Test
  void every_interleaving_of_a_few_steps_is_linear() {
    size(new ModelCheckingOptions())
        .invocationsPerIteration(50)
        .check(JournalFeedLincheckTest.class);
  }

  @Test
  void threads_at_full_speed_are_linear() {
    // Threads wait for each other by spinning: more of them than processors only take turns.
    size(new StressOptions())
        .threads(2)
        .invocationsPerIteration(150)
        .check(JournalFeedLincheckTest.class);
  }
}
