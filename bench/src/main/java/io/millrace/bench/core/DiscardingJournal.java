package io.millrace.bench.core;

import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A journal that is durable at once and stores nothing. */
final class DiscardingJournal implements Journal, Journal.Leader {
  @Override
  public long follow(Replay replay, long after) {
    return after;
  }

  @Override
  public Leader lead(Replay replay, long after) {
    return this;
  }

  @Override
  public Tail tail() {
    return new Tail(0, 0, 0, 0, null, 0, 0);
  }

  @Override
  public CompletableFuture<Void> append(Frame frame) {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public SnapshotWriter snapshot(Frame frame) {
    return new DiscardingWriter();
  }

  @Override
  public @Nullable Reader read(long position) {
    return null;
  }

  @Override
  public void trim(long keepAfterPosition) {
    // There is nothing to remove.
  }

  @Override
  public void close() {
    // There is nothing to release.
  }

  private static final class DiscardingWriter implements SnapshotWriter {
    @Override
    public void part(ByteBuffer payload) {
      payload.position(payload.limit());
    }

    @Override
    public void publish() {
      // Nothing is stored that could be found.
    }

    @Override
    public void abandon() {
      // Nothing is stored.
    }
  }
}
