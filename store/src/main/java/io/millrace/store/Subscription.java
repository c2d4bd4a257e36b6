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
 * Limits#subscriberLag} and {@link Limits#subscriberLagBytes}. A subscriber further behind goes on
 * from the journal, like one that begins in the past. It is too slow once the journal does not hold
 * the commits any more that it has yet to see.
 */
public interface Subscription extends AutoCloseable {
  /** Where the subscription began: the first commit to come is after it. */
  Position start();

  /**
   * The next commit that has a change of interest, waiting for it.
   *
   * @param timeout how long to wait; a store in this process counts it by the monotonic clock of
   *     its environment
   * @return the commit with only the changes of interest, or null when the time is over
   * @throws PositionLostException when the subscriber was too slow; it may read everything anew and
   *     then subscribe again
   * @throws StoreClosedException when the store or the subscription is closed
   * @throws StoreException when a store in this process cannot read its journal, which may be
   *     damaged; other subscriptions are not affected, and a later call tries again without leaving
   *     out a commit
   * @throws InterruptedException when the thread was interrupted
   */
  @Nullable Commit next(Duration timeout) throws InterruptedException;

  /** Ends the subscription. */
  @Override
  void close();

  /**
   * What a subscriber wants to see.
   *
   * @param after the position after which to begin; null begins now
   * @param groups only changes of tasks in these groups
   * @param collections only changes of documents in these collections
   */
  record Interest(@Nullable Position after, Set<String> groups, Set<String> collections) {
    public Interest {
      groups = Set.copyOf(groups);
      collections = Set.copyOf(collections);
    }

    /** Everything from now on. Both sets empty means no filter. */
    public static Interest everything() {
      return new Interest(null, Set.of(), Set.of());
    }

    /** The same after {@code position}. */
    public Interest after(@Nullable Position position) {
      return new Interest(position, groups, collections);
    }

    /** Whether a change belongs to it. */
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
