package io.millrace.store;

import io.millrace.store.Commit.Change;
import io.millrace.store.StoreOptions.Limits;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A stream of durable commits, each once and in order. For use by one thread at a time.
 *
 * <p>A store in this process keeps commits in memory for a subscriber that is behind, up to {@link
 * Limits#subscriberLag} and {@link Limits#subscriberLagBytes}. A subscriber that is further behind,
 * or that begins in the past, reads from the journal. It is too slow if the journal no longer holds
 * the commits that it needs next.
 */
public interface Subscription extends AutoCloseable {
  /** The position after which the subscription began. */
  Position start();

  /**
   * Waits for the next commit that has a change of interest.
   *
   * @param timeout how long to wait; a store in this process uses the monotonic clock of its
   *     environment
   * @return the commit with only the changes of interest, or null after the timeout
   * @throws PositionLostException if the subscriber was too slow; it should read everything again
   *     and then subscribe again
   * @throws StoreClosedException if the store or the subscription is closed
   * @throws StoreException if a store in this process cannot read its journal, which may be
   *     damaged; other subscriptions are not affected, and a later call tries again at the same
   *     commit
   * @throws InterruptedException if the thread is interrupted
   */
  @Nullable Commit next(Duration timeout) throws InterruptedException;

  /** Ends the subscription. */
  @Override
  void close();

  /**
   * The filter of a subscription. If both sets are empty, all changes are of interest; otherwise
   * those that match one of them.
   *
   * @param after the position after which to begin; null for the current position
   * @param groups groups whose tasks are of interest
   * @param collections collections whose documents are of interest
   */
  record Interest(@Nullable Position after, Set<String> groups, Set<String> collections) {
    public Interest {
      groups = Set.copyOf(groups);
      collections = Set.copyOf(collections);
    }

    /** All changes from now on. */
    public static Interest everything() {
      return new Interest(null, Set.of(), Set.of());
    }

    /** The same filter, beginning after {@code position}. */
    public Interest after(@Nullable Position position) {
      return new Interest(position, groups, collections);
    }

    /** Whether a change is of interest. */
    public boolean includes(Change change) {
      if (groups.isEmpty() && collections.isEmpty()) {
        return true;
      }
      return switch (change) {
        case Change.Added(Task task) -> groups.contains(task.group());
        case Change.Changed(long _, Task task, boolean _) -> groups.contains(task.group());
        case Change.Deleted(long _, long _, String group) -> groups.contains(group);
        case Change.DocumentPut(long _, Document document) ->
            collections.contains(document.key().collection());
        case Change.DocumentDeleted(DocumentKey key, long _) ->
            collections.contains(key.collection());
      };
    }
  }
}
