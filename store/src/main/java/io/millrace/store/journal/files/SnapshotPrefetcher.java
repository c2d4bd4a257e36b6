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
 * Reads, checks and decodes the parts of a snapshot in its own activity, ahead of the one thread
 * that takes them.
 */
final class SnapshotPrefetcher implements Activity, AutoCloseable {
  /** The largest number of parts that are read ahead. */
  private static final int MAX_AHEAD = 16;

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
   * @param at its offset in the file
   * @param number its number, from 0
   * @param put adds it to the state, or throws {@link StoreException} if its content is invalid
   */
  record Part(long at, long number, Runnable put) {}

  SnapshotPrefetcher(Environment environment, SnapshotInput input, Journal.Replay replay) {
    this.environment = environment;
    this.input = input;
    this.replay = replay;
    this.driver = environment.drive("snapshot-read", this);
  }

  /**
   * Waits for the next part; empty after the last, when the snapshot is known to be complete.
   *
   * @throws java.util.concurrent.CompletionException if reading failed
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
      if (read.size() >= MAX_AHEAD) {
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
      // Errors too: every future must complete.
      next.completeExceptionally(e);
      return FINISHED;
    }
  }

  private Optional<Part> part() throws IOException {
    long at = input.bytes();
    ByteBuffer payload = input.next();
    return payload == null
        ? Optional.empty()
        : Optional.of(new Part(at, input.parts() - 1, decoded(payload)));
  }

  /** Decodes a part. Invalid content is reported when it is its turn, after all earlier parts. */
  private Runnable decoded(ByteBuffer payload) {
    try {
      return replay.snapshotPart(payload);
    } catch (StoreException e) {
      return () -> {
        throw e;
      };
    }
  }

  /** Stops reading, and waits until it has stopped. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    driver.signal();
    driver.join();
  }
}
