package io.millrace.store.kernel;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The messages for the loop: a linked stack that is taken whole and reversed, so that handing over
 * costs one compare-and-set and no lock. Any number of threads may push; one takes. Each message
 * knows how many are below it and how large they are together, so that the limits cost no counter
 * that threads would share.
 */
final class Mailbox {
  /** About how much memory a message takes beyond its content. */
  static final long MESSAGE_BYTES = 300;

  /** What a message looks like to the mailbox. */
  abstract static class Message {
    private @Nullable Message next;

    /** How many messages the stack has with this one on top. */
    private int count;

    /** How large those are. */
    private long bytes;

    /** About how much memory it takes, in bytes. */
    abstract long sizeBytes();

    /** Whether it is taken in even if there is no room. */
    boolean isUrgent() {
      return false;
    }

    /** Answers that the store is closed; called if the message came too late. */
    abstract void reject(RuntimeException why);

    /** The message that came after this one, once taken. */
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
      throw new IllegalStateException("the mark of a closed mailbox is no message", why);
    }
  }

  private static final Closed CLOSED = new Closed();

  private final int mostMessages;
  private final long mostBytes;
  private final AtomicReference<@Nullable Message> top = new AtomicReference<>();

  /** Completed by the next take or close; null while no sender waits for room. */
  private final AtomicReference<@Nullable CompletableFuture<Void>> room = new AtomicReference<>();

  /**
   * An empty mailbox.
   *
   * @param mostMessages how many messages may wait
   * @param mostBytes how large they may be together; one message alone may be larger
   */
  Mailbox(int mostMessages, long mostBytes) {
    this.mostMessages = mostMessages;
    this.mostBytes = mostBytes;
  }

  /** What became of a message. */
  enum Receipt {
    /** It waits for the loop, which may be asleep. */
    TAKEN,
    /** There is no room for it; the loop knows of the others. */
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
          && (before.count >= mostMessages || before.bytes + size > mostBytes)) {
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
   * Completes when the mailbox is emptied or closed the next time. To be asked for before one more
   * push, since it may have been emptied meanwhile.
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

  private void tellOfRoom() {
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

  /** All messages, the oldest first, linked by {@link Message#next()}; null for none. */
  @Nullable Message take() {
    Message newest = top.get();
    if (newest == null || newest instanceof Closed) {
      return null;
    }
    Message taken = top.getAndSet(null);
    tellOfRoom();
    return oldestFirst(taken);
  }

  /** Refuses messages from now on; gives those that had come. */
  @Nullable Message close() {
    Message taken = top.getAndSet(CLOSED);
    tellOfRoom();
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
