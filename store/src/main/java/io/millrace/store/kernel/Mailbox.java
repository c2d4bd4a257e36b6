package io.millrace.store.kernel;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Where callers leave messages for the loop: a linked stack that is taken whole and turned round,
 * so that handing over costs one compare-and-set and no lock. Any number of threads may push; one
 * takes.
 */
final class Mailbox {
  /** What a message looks like to the mailbox. */
  abstract static class Message {
    private @Nullable Message next;

    /** Answers that the store is closed; called where the message came too late. */
    abstract void reject(RuntimeException why);

    /** The message that came after this one, once taken. */
    final @Nullable Message next() {
      return next;
    }
  }

  private static final class Closed extends Message {
    @Override
    void reject(RuntimeException why) {
      throw new IllegalStateException("the mark of a closed mailbox is no message", why);
    }
  }

  private static final Closed CLOSED = new Closed();

  private final AtomicReference<@Nullable Message> top = new AtomicReference<>();

  /** What became of a message. */
  enum Receipt {
    /** It is the first: the loop may be asleep. */
    FIRST,
    /** Others were there before: the loop knows. */
    FURTHER,
    /** The mailbox is closed. */
    REFUSED
  }

  Receipt push(Message message) {
    while (true) {
      Message before = top.get();
      if (before instanceof Closed) {
        return Receipt.REFUSED;
      }
      message.next = before;
      if (top.compareAndSet(before, message)) {
        return before == null ? Receipt.FIRST : Receipt.FURTHER;
      }
    }
  }

  boolean isEmpty() {
    Message message = top.get();
    return message == null || message instanceof Closed;
  }

  /** All messages, the oldest first, linked by {@link Message#next()}; null for none. */
  @Nullable Message take() {
    Message newest = top.get();
    if (newest == null || newest instanceof Closed) {
      return null;
    }
    return oldestFirst(top.getAndSet(null));
  }

  /** Refuses messages from now on; gives those that had come. */
  @Nullable Message close() {
    return oldestFirst(top.getAndSet(CLOSED));
  }

  private static @Nullable Message oldestFirst(@Nullable Message newest) {
    Message turned = null;
    Message message = newest instanceof Closed ? null : newest;
    while (message != null) {
      Message older = message.next;
      message.next = turned;
      turned = message;
      message = older;
    }
    return turned;
  }
}
