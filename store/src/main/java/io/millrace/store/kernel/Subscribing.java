package io.millrace.store.kernel;

import io.millrace.store.Interest;
import io.millrace.store.Limits;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.PositionLostException.Why;
import io.millrace.store.StoreException;
import io.millrace.store.Subscription;
import io.millrace.store.journal.Journal;

/**
 * The beginning of a subscription: what the loop settles, before the journal is opened on the
 * subscriber's own thread.
 */
sealed interface Subscribing {
  /** It begins with the next commit, and has its place in the chain already. */
  record Now(Subscription subscription) implements Subscribing {}

  /** It begins in the past. */
  record Earlier(Interest interest, Position from, Broadcast broadcast) implements Subscribing {}

  /** Checks a wish against the history. For the loop's thread, so that no commit slips through. */
  static Subscribing begin(StoreLoop loop, Limits limits, Interest interest) {
    if (loop.outlets().broadcast().size() >= limits.subscribers()) {
      throw new StoreException(
          "there are " + limits.subscribers() + " subscriptions already, no more can be opened");
    }
    long durable = loop.outlets().feed().durableCommits();
    Position after = interest.after();
    if (after == null) {
      return now(loop, interest, loop.engine().position(durable));
    }
    if (!loop.engine().history().includes(after.history(), after.number())
        || after.number() > loop.state().commits()) {
      throw new PositionLostException(
          Why.OTHER_HISTORY, after, "position " + after + " is not in this store's history");
    }
    Position from = loop.engine().position(after.number());
    return from.number() >= durable
        ? now(loop, interest, from)
        : new Earlier(interest, from, loop.outlets().broadcast());
  }

  private static Subscribing now(StoreLoop loop, Interest interest, Position from) {
    return new Now(new LiveSubscription(interest, from, loop.outlets().broadcast(), null));
  }

  /** The subscription, which delivers from now on. */
  default Subscription start(Journal journal) {
    return switch (this) {
      case Now(Subscription subscription) -> subscription;
      case Earlier(Interest interest, Position from, Broadcast broadcast) -> {
        Journal.Reader reader = journal.read(from.number());
        if (reader == null) {
          throw new PositionLostException(
              Why.GONE, from, "the commits after position " + from + " are not kept any more");
        }
        yield new LiveSubscription(interest, from, broadcast, reader);
      }
    };
  }
}
