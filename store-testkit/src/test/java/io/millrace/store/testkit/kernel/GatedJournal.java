package io.millrace.store.testkit.kernel;

import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A journal whose disk stands still, goes on, breaks or forgets the past when a test says so, and
 * which counts the readers that are open.
 */
final class GatedJournal implements Journal, Journal.Leader {
  private record Held(Frame frame, CompletableFuture<Void> done) {}

  private final Journal journal;
  private @Nullable Leader leader;
  private final ArrayDeque<Held> held = new ArrayDeque<>();
  private final AtomicInteger readers = new AtomicInteger();
  private boolean shut;
  private int allowed;
  private boolean broken;
  private volatile boolean forgetful;

  /** Thrown whenever the journal is asked for its shortage; null for nothing. */
  @Nullable Error errorInDecision;

  /** Thrown when a snapshot begins; null for nothing. */
  @Nullable Error errorAtSnapshot;

  /** Thrown when a part of a snapshot is written; null for nothing. */
  volatile @Nullable Error errorInSnapshot;

  /** How often a snapshot was begun. */
  int snapshots;

  GatedJournal(Journal journal) {
    this.journal = journal;
  }

  /** Nothing becomes durable from now on. */
  void hold() {
    shut = true;
  }

  /** Nothing becomes durable from now on, except the next {@code frames} frames. */
  void letThrough(int frames) {
    shut = true;
    allowed = frames;
  }

  /** Everything that was held is written, and so is what comes. */
  void release() {
    shut = false;
    while (!held.isEmpty()) {
      Held first = held.remove();
      var _ = leader().append(first.frame()).thenRun(() -> first.done().complete(null));
    }
  }

  /** The disk breaks: what was held is never written. */
  void fail() {
    held.forEach(it -> it.done().completeExceptionally(new JournalException("the disk is broken")));
    held.clear();
  }

  /** Every write fails at once from now on, on the thread that asks for it. */
  void failAtOnce() {
    broken = true;
  }

  @Override
  public CompletableFuture<Void> append(Frame frame) {
    if (broken) {
      return CompletableFuture.failedFuture(new JournalException("the disk is broken"));
    }
    if (!shut || allowed-- > 0) {
      return leader().append(frame);
    }
    Held added = new Held(frame, new CompletableFuture<>());
    held.add(added);
    return added.done();
  }

  @Override
  public long follow(Replay replay, long after) {
    return journal.follow(replay, after);
  }

  @Override
  public Leader lead(Replay replay, long after) {
    leader = journal.lead(replay, after);
    return this;
  }

  @Override
  public Tail tail() {
    return leader().tail();
  }

  private Leader leader() {
    return Objects.requireNonNull(leader);
  }

  @Override
  public SnapshotWriter snapshot(Frame frame) {
    snapshots++;
    throwIfSet(errorAtSnapshot);
    SnapshotWriter writer = leader().snapshot(frame);
    return new SnapshotWriter() {
      @Override
      public void part(ByteBuffer payload) {
        throwIfSet(errorInSnapshot);
        writer.part(payload);
      }

      @Override
      public void publish() {
        writer.publish();
      }

      @Override
      public void abandon() {
        writer.abandon();
      }
    };
  }

  private static void throwIfSet(@Nullable Error error) {
    if (error != null) {
      throw error;
    }
  }

  @Override
  public @Nullable Shortage shortage() {
    throwIfSet(errorInDecision);
    return leader().shortage();
  }

  /** No reader can be opened from now on. */
  void forget() {
    forgetful = true;
  }

  int openReaders() {
    return readers.get();
  }

  @Override
  public @Nullable Reader read(long position) {
    Reader reader = forgetful ? null : leader().read(position);
    if (reader == null) {
      return null;
    }
    readers.incrementAndGet();
    return new Reader() {
      @Override
      public @Nullable Frame next() {
        return reader.next();
      }

      @Override
      public void close() {
        readers.decrementAndGet();
        reader.close();
      }
    };
  }

  @Override
  public void trim(long keepAfterPosition) {
    leader().trim(keepAfterPosition);
  }

  @Override
  public void close() {
    journal.close();
  }
}
