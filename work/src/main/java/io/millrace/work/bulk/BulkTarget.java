package io.millrace.work.bulk;

import io.millrace.store.Outcome;
import io.millrace.store.Transaction;
import io.millrace.work.bulk.BulkException.BatchTooLargeException;
import io.millrace.work.bulk.BulkException.BulkFullException;
import io.millrace.work.bulk.BulkException.InvalidBulkException;
import io.millrace.work.bulk.BulkProgress.Skip;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Items of one kind, to which bulk actions apply. Implemented by the layers. Safe for use by any
 * number of threads.
 *
 * @param <I> an item as it was read
 */
public interface BulkTarget<I extends BulkTarget.Item> {
  /** The kind of its items, in the plural: {@code tasks}. */
  String kind();

  /** The actions that it knows, in the order in which they are shown. */
  List<String> actions();

  /**
   * Checks an order when it is given, and replaces names that may change their meaning by ids.
   *
   * @param order one of these actions, with times that are absolute
   * @throws InvalidBulkException if its filter or an option is invalid
   */
  BulkOrder prepare(BulkOrder order);

  /**
   * The items that an order chooses: those that match its filter, are in its reach, are in a state
   * that the action applies to, and were not created later than it was given.
   *
   * @param order what {@link #prepare} gave
   * @param givenMillis when it was given, in milliseconds since the epoch
   */
  Selection<I> select(BulkOrder order, long givenMillis);

  /** An item as it was read. */
  interface Item {
    /** Its id. */
    String id();

    /** The queue, job type or node within which it is, for the audit log. */
    String scope();

    /** Its state, and what else tells a person which item it is. */
    String summary();
  }

  /**
   * The items of one order. For use by one thread.
   *
   * @param <I> an item as it was read
   */
  interface Selection<I> {
    /**
     * Reads on.
     *
     * @param after where the page before ended; empty for the first page
     * @param most the most items of the page, from 1
     */
    Page<I> page(String after, int most);

    /**
     * Performs the action on items of a page, in one transaction.
     *
     * @param joint to be called once with the transaction, even if every item is skipped
     * @return false if something has changed in between, and nothing was committed
     * @throws BulkFullException if the store has no room; nothing was committed
     * @throws BatchTooLargeException if that is too much for one transaction
     */
    boolean apply(List<I> items, Joint joint);
  }

  /**
   * Some items, in an order that does not change.
   *
   * @param items may be empty though there are more
   * @param after where the page ends
   * @param isLast whether there are no more items
   */
  record Page<I>(List<I> items, String after, boolean isLast) {}

  /** Commits a batch together with the progress of the action. */
  @FunctionalInterface
  interface Joint {
    /**
     * Adds to the transaction, and commits it.
     *
     * @param skipped the items that are not changed by it
     * @return null if something has changed in between, and nothing was committed
     */
    Outcome.@Nullable Done commit(Transaction.Builder transaction, List<Skip> skipped);
  }

  /** Throws {@link InvalidBulkException} unless all options of an order are known. */
  static void checkOptions(BulkOrder order, Set<String> known) {
    for (String option : order.options().keySet()) {
      if (!known.contains(option)) {
        throw new InvalidBulkException(
            known.isEmpty()
                ? "the action " + order.action() + " has no options"
                : "the action %s has no option %s, only %s"
                    .formatted(order.action(), option, String.join(", ", known)));
      }
    }
  }
}
