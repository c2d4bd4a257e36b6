package io.millrace.store;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store whose journal several processes share, until this process leads it: it follows the
 * journal in memory. Made by {@link TaskStore#standby}. Thread-safe.
 */
public interface StandbyStore extends AutoCloseable {
  /**
   * What a standby knows.
   *
   * @param position the last commit that it has applied; null if it has applied none, or has not
   *     read the journal to its end yet
   * @param leader the address that the leader has announced; null if nobody leads, or the leader
   *     has announced none
   * @param problem why the journal cannot be followed at the moment; null if it can
   */
  record View(@Nullable Position position, @Nullable String leader, @Nullable String problem) {}

  /**
   * Follows the journal until nobody else leads it, and then leads. Called once.
   *
   * @throws StoreClosedException if the standby is closed before
   * @throws io.millrace.store.journal.JournalException if the journal cannot be opened or is
   *     damaged
   */
  default EmbeddedTaskStore lead() {
    return lead(() -> Duration.ZERO);
  }

  /**
   * The same, but leaves the lead to another process for a while that could take it too.
   *
   * @param patience how long; asked each time when nobody leads any more, by the thread that
   *     follows, and must be quick
   */
  EmbeddedTaskStore lead(Supplier<Duration> patience);

  /**
   * Completes when it has read the journal to its end for the first time and another process leads
   * it: from then on it can take over at once. Before that, a takeover takes as long as the rest of
   * the read. Never completes if this one leads first. Callbacks run on a thread that follows and
   * must not block.
   */
  CompletableFuture<Void> follows();

  /** What it knows now. Does not block. */
  View view();

  /**
   * Reads what it has applied, if that is young enough. The first read of the result, which is
   * cheap to make, throws {@link TooStaleException} otherwise: if this standby has not read the
   * journal to its end within the bound, does not have the position, does not follow, or leads. All
   * later reads are as of the position of the first one, also when the bound has passed, except
   * that {@link TaskStore#tasks} throws the same exception if the store has changed since. Reads do
   * not wait for the journal.
   *
   * <p>A read of age A has everything that was acknowledged until A before it, by this machine's
   * clock, and it is as of one position. Later reads of one standby never go back; those of another
   * one may, if they do not name the position seen before. What comes by time alone, such as the
   * end of a lease, is as of this machine's idea of store time: the larger of the last commit's and
   * the wall clock when it began to follow, and from there on by the monotonic clock.
   *
   * @param bound the greatest age
   * @param after a position that the reads must have; null for none
   */
  StaleReads reads(Duration bound, @Nullable Position after);

  /**
   * Completes once the journal has been read to its end by a read that began after this call. What
   * was acknowledged before the call is then there for {@link #reads}, and {@link #view} names
   * nobody who had resigned before. Fails with {@link TooStaleException} if the standby does not
   * follow, or leads.
   */
  CompletableFuture<Void> refreshed();

  /** The reads of a standby. They refuse commands and subscriptions. Thread-safe. */
  interface StaleReads extends TaskStore {
    /** The age of what is read, as of the first read; zero before that. */
    Duration age();

    /** The position of what is read; null before the first read. */
    @Nullable Position position();
  }

  /** A standby cannot answer a read; the leader can. */
  class LeaderNeededException extends StoreException {
    private static final long serialVersionUID = 1;

    /** A read that only the leader can answer, for this reason. */
    public LeaderNeededException(String message) {
      super(message);
    }
  }

  /** A standby cannot answer a read within its bound. */
  final class TooStaleException extends LeaderNeededException {
    private static final long serialVersionUID = 1;

    /** A read that cannot be answered for this reason. */
    public TooStaleException(String message) {
      super(message);
    }
  }

  /** Ends {@link #lead}. Does nothing if that has returned. */
  @Override
  void close();
}
