package io.millrace.store.kernel;

import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

/** A journal in memory, without snapshots: one leads it and others follow it, on any threads. */
final class MemoryJournal implements Journal, Journal.Leader {
  private final List<Frame> frames = new CopyOnWriteArrayList<>();

  @Override
  public long follow(Replay replay, long after) {
    if (after == 0) {
      replay.reset();
    }
    int end = frames.size();
    for (int i = (int) after; i < end; i++) {
      replay.frame(copy(frames.get(i)));
    }
    return end;
  }

  private static Frame copy(Frame frame) {
    ByteBuffer payload = ByteBuffer.allocate(frame.payload().remaining());
    payload.put(frame.payload().duplicate()).flip();
    return new Frame(
        frame.sequence(),
        frame.epoch(),
        frame.writer(),
        frame.timeMillis(),
        frame.durableSequence(),
        frame.position(),
        payload);
  }

  @Override
  public Leader lead(Replay replay, long after) {
    long _ = follow(replay, after);
    return this;
  }

  @Override
  public Tail tail() {
    if (frames.isEmpty()) {
      return new Tail(0, 0, 0, 0, null, 0, 0);
    }
    Frame last = frames.getLast();
    return new Tail(last.sequence(), last.epoch(), last.position(), last.timeMillis(), null, 0, 0);
  }

  @Override
  public CompletableFuture<Void> append(Frame frame) {
    frames.add(copy(frame));
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public SnapshotWriter snapshot(Frame frame) {
    return new SnapshotWriter() {
      @Override
      public void part(ByteBuffer payload) {}

      @Override
      public void publish() {}

      @Override
      public void abandon() {}
    };
  }

  @Override
  public Reader read(long position) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void trim(long keepAfterPosition) {}

  @Override
  public void close() {}
}
