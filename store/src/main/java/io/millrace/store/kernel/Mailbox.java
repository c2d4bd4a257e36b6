package io.millrace.store.kernel;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The messages for the loop: a linked stack that is taken as a whole and reversed, so that a push
 * costs one compare-and-set and no lock. Any number of threads may push; one takes. Each message
 * has the number and total size of the messages below it, so that the limits need no shared
 * counter.
 */
final class Mailbox {
  /** An estimate of the memory of a message without its content, in bytes. */
  static final long MESSAGE_BYTES = 300;

  /** A message. */
  abstract static class Message {
    private @Nullable Message next;

    /** The number of messages in the stack up to this one. */
    private int count;

    /** The total size of those messages. */
    private long bytes;

    /** An estimate of its memory in bytes. */
    abstract long sizeBytes();

    /** Whether it is accepted even if the mailbox is full. */
    boolean isUrgent() {
      return false;
    }

    /** Fails the answer; called if the message is not accepted or not handled. */
    abstract void reject(RuntimeException why);

    /** The message that was pushed after this one; valid once the messages are taken. */
    final @Nullable Message next() {
      return next;
    }
  }

  private static final class Closed extends Message {
    @Override
    long sizeBytes() {
      return 0;
    }

    @Override
    void reject(RuntimeException why) {
      throw new IllegalStateException("the mark of a closed mailbox is not a message", why);
    }
  }

  private static final Closed CLOSED = new Closed();

  private final int maxMessages;
  private final long maxBytes;
  private final AtomicReference<@Nullable Message> top = new AtomicReference<>();

  /** Completed by the next take or close; null if no sender waits for room. */
  private final AtomicReference<@Nullable CompletableFuture<Void>> room = new AtomicReference<>();

  /**
   * An empty mailbox.
   *
   * @param maxMessages the largest number of waiting messages
   * @param maxBytes their largest total size; a single message may be larger
   */
  Mailbox(int maxMessages, long maxBytes) {
    this.maxMessages = maxMessages;
    this.maxBytes = maxBytes;
  }

  /** The result of a push. */
  enum Receipt {
    /** The message was accepted. The loop may be asleep. */
    TAKEN,
    /** The mailbox is full. */
    FULL,
    /** The mailbox is closed. */
    REFUSED
  }

  Receipt push(Message message) {
    long size = message.sizeBytes();
    while (true) {
      Message before = top.get();
      if (before instanceof Closed) {
        return Receipt.REFUSED;
      }
      if (before == null) {
        message.count = 1;
        message.bytes = size;
      } else if (!message.isUrgent()
          && (before.count >= maxMessages || before.bytes + size > maxBytes)) {
        return Receipt.FULL;
      } else {
        message.count = before.count + 1;
        message.bytes = before.bytes + size;
      }
      message.next = before;
      if (top.compareAndSet(before, message)) {
        return Receipt.TAKEN;
      }
    }
  }

  /**
   * Completes when the mailbox is next emptied or closed. After calling this, push once more before
   * waiting, because the mailbox may have been emptied before the call.
   */
  CompletableFuture<Void> room() {
    while (true) {
      CompletableFuture<Void> waiting = room.get();
      if (waiting != null) {
        return waiting;
      }
      CompletableFuture<Void> created = new CompletableFuture<>();
      if (room.compareAndSet(null, created)) {
        return created;
      }
    }
  }

  private void signalRoom() {
    if (room.get() != null) {
      CompletableFuture<Void> waiting = room.getAndSet(null);
      if (waiting != null) {
        waiting.complete(null);
      }
    }
  }

  boolean isEmpty() {
    Message message = top.get();
    return message == null || message instanceof Closed;
  }

  /** Takes all messages, the oldest first, linked by {@link Message#next()}; null for none. */
  @Nullable Message take() {
    Message newest = top.get();
    if (newest == null || newest instanceof Closed) {
      return null;
    }
    Message taken = top.getAndSet(null);
    signalRoom();
    return oldestFirst(taken);
  }

  /** Closes the mailbox, and takes all messages as {@link #take} does. */
  @Nullable Message close() {
    Message taken = top.getAndSet(CLOSED);
    signalRoom();
    return oldestFirst(taken);
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
