package io.millrace.store.kernel;

import io.millrace.store.Interest;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.PositionLostException.Why;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions;
import io.millrace.store.journal.Journal;
import org.jspecify.annotations.Nullable;

/** How a subscription begins: what the loop settles. */
final class Subscribing {
  private Subscribing() {}

  /**
   * Checks a wish against the history and gives it a place among the subscribers. For the loop's
   * thread, so that no commit slips through; the subscriber's own thread opens it then.
   */
  static LiveSubscription begin(
      StoreLoop loop, StoreOptions options, Journal journal, Interest interest) {
    Broadcast broadcast = loop.outlets().broadcast();
    int most = options.limits().subscribers();
    if (broadcast.size() >= most) {
      throw new StoreException(
          "there are " + most + " subscriptions already, no more can be opened");
    }
    long durable = loop.outlets().feed().durableCommits();
    Position from = from(loop, interest.after(), durable);
    boolean live = from.number() >= durable;
    return new LiveSubscription(
        interest, from, live, broadcast, journal, options.environment(), loop.thread());
  }

  private static Position from(StoreLoop loop, @Nullable Position after, long durable) {
    if (after == null) {
      return loop.engine().position(durable);
    }
    if (!loop.engine().history().includes(after.history(), after.number())
        || after.number() > loop.state().commits()) {
      throw new PositionLostException(
          Why.OTHER_HISTORY, after, "position " + after + " is not in this store's history");
    }
    return loop.engine().position(after.number());
  }
}
