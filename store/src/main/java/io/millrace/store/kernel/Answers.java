package io.millrace.store.kernel;

import io.millrace.store.Journaling;
import io.millrace.store.OutcomeUnknownException;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;

/**
 * Answers that wait for the disk. The one rule of release: an answer leaves once every frame that
 * its decision saw is durable; answers leave in the order in which they were decided.
 *
 * <p>An opportunistic store answers at the end of the turn: who keeps several commands under way
 * then wakes up once for all of them.
 */
final class Answers {
  private record Held<T>(long sequence, CompletableFuture<T> future, T answer) {
    void release() {
      future.complete(answer);
    }
  }

  private final JournalFeed feed;
  private final Journaling journaling;
  private final ArrayDeque<Held<?>> held = new ArrayDeque<>();

  Answers(JournalFeed feed, Journaling journaling) {
    this.feed = feed;
    this.journaling = journaling;
  }

  /** Gives an answer that rests on everything recorded so far, as soon as it may be known. */
  <T> void give(CompletableFuture<T> future, T answer) {
    switch (journaling) {
      case STRICT -> {
        long sequence = feed.newestSequence();
        if (sequence <= feed.durableSequence() && held.isEmpty()) {
          future.complete(answer);
        } else {
          held.add(new Held<>(sequence, future, answer));
        }
      }
      case OPPORTUNISTIC -> held.add(new Held<>(feed.durableSequence(), future, answer));
    }
  }

  boolean isEmpty() {
    return held.isEmpty();
  }

  /** Gives every answer whose time has come. */
  void release() {
    long durable = feed.durableSequence();
    while (true) {
      Held<?> first = held.peek();
      if (first == null || first.sequence() > durable) {
        return;
      }
      held.remove();
      first.release();
    }
  }

  /** What callers hear whose answers are not certain, because the store stopped. */
  static OutcomeUnknownException unknown(Throwable cause) {
    return new OutcomeUnknownException(
        "the store stopped before the answer was on disk: " + cause.getMessage(), cause);
  }

  /** Tells all who wait that nobody knows whether their commands will survive. */
  void fail(Throwable cause) {
    OutcomeUnknownException unknown = unknown(cause);
    for (Held<?> answer : held) {
      answer.future().completeExceptionally(unknown);
    }
    held.clear();
  }
}
