package io.millrace.store.journal.files;

import io.millrace.store.StoreException;
import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Journal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Reads, checks and decodes a snapshot by an activity of its own, some parts ahead of those that
 * are put into the state. For one thread that takes them.
 */
final class SnapshotPrefetcher implements Activity, AutoCloseable {
  private static final int MOST = 16;

  private final Environment environment;
  private final SnapshotInput input;
  private final Journal.Replay replay;
  private final Driver driver;

  // Guarded by this.
  private final ArrayDeque<CompletableFuture<Optional<Part>>> read = new ArrayDeque<>();
  private @Nullable CompletableFuture<Optional<Part>> awaited;
  private boolean closed;

  /**
   * A part that was read.
   *
   * @param at where it begins in the file
   * @param number counted from 0
   * @param put puts it into the state, or throws {@link StoreException} if it means nothing
   */
  record Part(long at, long number, Runnable put) {}

  SnapshotPrefetcher(Environment environment, SnapshotInput input, Journal.Replay replay) {
    this.environment = environment;
    this.input = input;
    this.replay = replay;
    this.driver = environment.drive("snapshot-read", this);
  }

  /**
   * The next part; empty after the last, when the snapshot is known to be whole.
   *
   * @throws java.util.concurrent.CompletionException with what reading failed with
   */
  Optional<Part> next() {
    CompletableFuture<Optional<Part>> next;
    synchronized (this) {
      next = read.poll();
      if (next == null) {
        next = new CompletableFuture<>();
        awaited = next;
      }
    }
    driver.signal();
    return environment.await(next);
  }

  @Override
  public long step() {
    CompletableFuture<Optional<Part>> next;
    synchronized (this) {
      if (closed) {
        return FINISHED;
      }
      if (read.size() >= MOST) {
        return UNTIL_SIGNALLED;
      }
      next = awaited == null ? new CompletableFuture<>() : awaited;
      if (awaited == null) {
        read.add(next);
      }
      awaited = null;
    }
    try {
      Optional<Part> part = part();
      next.complete(part);
      return part.isEmpty() ? FINISHED : 0;
    } catch (Throwable e) {
      // Errors too: the taker must not wait for a part that will never come.
      next.completeExceptionally(e);
      return FINISHED;
    }
  }

  private Optional<Part> part() throws IOException {
    long at = input.offset();
    ByteBuffer payload = input.next();
    return payload == null
        ? Optional.empty()
        : Optional.of(new Part(at, input.parts() - 1, decoded(payload)));
  }

  /** A part that means nothing says so in its turn: one after it may be damaged. */
  private Runnable decoded(ByteBuffer payload) {
    try {
      return replay.snapshotPart(payload);
    } catch (StoreException e) {
      return () -> {
        throw e;
      };
    }
  }

  /** Ends reading, and waits until it has ended. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    driver.signal();
    driver.join();
  }
}
