package io.millrace.store.kernel;

import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.journal.FencedException;
import io.millrace.store.journal.Frame;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.records.JournalRecord;
import io.millrace.store.kernel.snapshots.Snapshots;
import io.millrace.store.kernel.state.State;
import io.millrace.store.kernel.subscriptions.Broadcast;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The way of a commit after its decision: to the journal, and once it is durable, to the caller, to
 * subscribers and to snapshots. For use by the loop's thread.
 *
 * <p>In a strict store, an answer is released once every frame that its decision depends on is
 * durable; answers are released in the order of their decisions. An opportunistic store releases
 * answers at the end of a turn, so that a caller with several commands wakes up once.
 */
final class CommitPipeline {
  /**
   * An answer that waits until frame {@code sequence} is durable.
   *
   * @param leased whether it also needs the lease of the leader when it leaves. One that waits for
   *     a frame that is handed over later does not: that frame is written only if nobody else leads
   */
  private record Held<T>(long sequence, boolean leased, CompletableFuture<T> future, T answer) {
    void release() {
      future.complete(answer);
    }
  }

  private final Journaling journaling;
  private final JournalFeed feed;
  private final Broadcast broadcast;
  private final Snapshots snapshots;
  private final ArrayDeque<Held<?>> held = new ArrayDeque<>();
  private boolean sealed;

  CommitPipeline(
      Journaling journaling, JournalFeed feed, Broadcast broadcast, Snapshots snapshots) {
    this.journaling = journaling;
    this.feed = feed;
    this.broadcast = broadcast;
    this.snapshots = snapshots;
    feed.onFrame(snapshots::noteFrame);
  }

  JournalFeed feed() {
    return feed;
  }

  Broadcast broadcast() {
    return broadcast;
  }

  Snapshots snapshots() {
    return snapshots;
  }

  /** The header that the frame of the newest commit has, or will have once it is written. */
  Frame latestFrame(State state) {
    return snapshots.latestFrame(feed.newestSequence(), state.commits());
  }

  /** Gives an answer that depends on everything recorded so far, once it may be released. */
  <T> void reply(CompletableFuture<T> future, T answer) {
    switch (journaling) {
      case STRICT -> {
        long sequence = feed.newestSequence();
        if (sequence <= feed.durableSequence() && held.isEmpty() && feed.holdsLease()) {
          future.complete(answer);
        } else {
          held.add(new Held<>(sequence, !feed.isGathering(), future, answer));
        }
      }
      case OPPORTUNISTIC -> held.add(new Held<>(feed.durableSequence(), false, future, answer));
    }
  }

  /**
   * Hands the gathered group to the journal, if the journal is free. In a strict store, whose
   * callers wait for the disk, also if there is nothing to add now.
   *
   * @param more whether there are messages that may add to the group
   */
  void flush(Engine engine, long nowMillis, boolean more) {
    boolean soon = !more && journaling == Journaling.STRICT;
    feed.flush(nowMillis, engine.state().commits(), soon);
    if (!sealed && !feed.isGathering() && snapshots.consider(engine.state(), engine.history())) {
      feed.fix();
    }
  }

  /** Releases commits and answers that have become durable. */
  void release() {
    List<Event> durable = feed.takeDurable();
    if (!durable.isEmpty()) {
      broadcast.publish(durable);
      snapshots.noteDurable();
    }
    releaseReplies();
  }

  private void releaseReplies() {
    long durable = feed.durableSequence();
    while (true) {
      Held<?> first = held.peek();
      // The lease is checked after the state was read: a later leader may have changed it before.
      if (first == null || first.sequence() > durable || (first.leased() && !feed.holdsLease())) {
        return;
      }
      held.remove();
      first.release();
    }
  }

  /**
   * The exception for answers that wait for the journal when the store stops: they are uncertain,
   * unless another leader has kept their frames out of the journal.
   */
  static StoreException unanswered(Throwable cause) {
    if (cause instanceof FencedException) {
      return new StoreClosedException(
          "not committed, because another server leads the store now: " + cause.getMessage(),
          cause);
    }
    return new OutcomeUnknownException(
        "the store stopped before the answer was on disk: " + cause.getMessage(), cause);
  }

  /**
   * Closes the journal normally.
   *
   * @return whether everything is durable and released; if not, call this again after a signal
   */
  boolean seal(Engine engine, long nowMillis) {
    if (!sealed) {
      sealed = true;
      feed.add(new JournalRecord.Closed());
    }
    flush(engine, nowMillis, false);
    release();
    if (!feed.isIdle() || !held.isEmpty()) {
      return false;
    }
    broadcast.close();
    return true;
  }

  /** Stops at once, without waiting for commits to become durable. */
  void stop(Throwable cause) {
    try {
      releaseReplies();
      StoreException unanswered = unanswered(cause);
      long durable = feed.durableSequence();
      StoreException unsure =
          new OutcomeUnknownException("the store stopped before the answer could leave", cause);
      held.forEach(answer ->
          answer
              .future()
              .completeExceptionally(answer.sequence() <= durable ? unsure : unanswered));
      held.clear();
    } finally {
      snapshots.stop();
      broadcast.close();
    }
  }
}
