package io.millrace.store.kernel;

import io.millrace.store.environment.Driver;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.FrameCodec;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.records.GroupParts;
import io.millrace.store.kernel.records.JournalRecord;
import io.millrace.store.kernel.records.RecordWriter;
import io.millrace.store.kernel.records.Records;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Gathers records into groups, and hands each group to the journal as one frame. The next group is
 * gathered while the last is being synced, and goes on growing if the journal gives it back because
 * it has not begun to write it. For use by the loop's thread; {@link #bell} is signalled when a
 * frame has become durable.
 */
final class JournalFeed {
  /** A group of at least this size, in bytes, does not wait for the one before it. */
  private static final int LARGE = 1 << 20;

  /** The largest number of frames that are not durable yet. */
  private static final int MAX_IN_FLIGHT = 16;

  /** Buffers larger than this, in bytes, are not reused. */
  private static final int KEPT_BUFFER = 4 << 20;

  /** Room in bytes that is kept for the records of a close and of the next opening. */
  private static final int CLOSING_BYTES = 4 << 10;

  private record InFlight(
      Frame frame,
      List<Event> events,
      RecordWriter buffer,
      long sinceNanos,
      CompletableFuture<Void> done) {}

  private final Journal.Leader journal;
  private final long epoch;
  private final long writer;
  private final Deque<InFlight> inFlight = new ArrayDeque<>();
  private final Deque<RecordWriter> spare = new ArrayDeque<>();
  private RecordWriter buffer = new RecordWriter();
  private List<Event> events = new ArrayList<>();
  private long gatheringSinceNanos;
  private long inFlightBytes;
  private long lastSequence;

  /** The last frame that stays as it is, because something refers to its end. */
  private long fixedSequence;

  private long frames;
  private volatile @Nullable Driver bell;
  private Consumer<Frame> handedOver = _ -> {};
  private long durableCommits;

  /** The loop's thread while it may sync; it needs no signal, since it checks the result itself. */
  private volatile @Nullable Thread syncing;

  private volatile long durableSequence;
  private volatile @Nullable Throwable failure;

  /**
   * A feed that continues after frame {@code lastSequence}, which is durable.
   *
   * @param epoch the epoch in which it writes
   * @param writer the random number in its frames
   * @param commits the number of commits up to that frame
   */
  JournalFeed(Journal.Leader journal, long epoch, long writer, long lastSequence, long commits) {
    this.durableCommits = commits;
    this.journal = journal;
    this.epoch = epoch;
    this.writer = writer;
    this.lastSequence = lastSequence;
    this.fixedSequence = lastSequence;
    this.durableSequence = lastSequence;
    journal.listen(
        new Journal.Leader.Listener() {
          @Override
          public void renewed() {
            ring();
          }

          @Override
          public void failed(JournalException why) {
            failure = why;
            ring();
          }
        });
  }

  private void ring() {
    Driver woken = bell;
    if (woken != null) {
      woken.signal();
    }
  }

  /** Sets the driver to signal when a frame has become durable, or the journal has failed. */
  void bell(Driver bell) {
    this.bell = bell;
  }

  /** Sets what is told of each frame that is handed to the journal. */
  void onFrame(Consumer<Frame> handedOver) {
    this.handedOver = handedOver;
  }

  /**
   * Adds a commit to the current group. If the group would be too large for a frame, it is handed
   * over before; a commit that is too large by itself is divided among several frames at once.
   */
  void add(Event event, long nowNanos) {
    if (buffer.isEmpty() && !resume()) {
      gatheringSinceNanos = nowNanos;
    }
    int before = buffer.size();
    Records.write(buffer, new JournalRecord.Committed(event));
    if (buffer.size() <= FrameCodec.MAX_PAYLOAD_BYTES) {
      events.add(event);
    } else {
      ByteBuffer added = buffer.view().position(before);
      List<RecordWriter> parts =
          added.remaining() > FrameCodec.MAX_PAYLOAD_BYTES
              ? GroupParts.divide(added)
              : List.of(RecordWriter.copyOf(added));
      separate(event, before, parts, nowNanos);
    }
  }

  /** Goes on with the group that was handed over last, if the journal gives it back. */
  private boolean resume() {
    InFlight last = inFlight.peekLast();
    if (last == null
        || last.frame().sequence() <= fixedSequence
        || last.buffer().size() >= LARGE
        || !journal.takeBack(last.frame())) {
      return false;
    }
    inFlight.removeLast();
    inFlightBytes -= last.buffer().size();
    lastSequence--;
    frames--;
    spare.add(buffer);
    buffer = last.buffer();
    events = last.events();
    gatheringSinceNanos = last.sinceNanos();
    return true;
  }

  /** Keeps the last frame as it is from now on, because something refers to its end. */
  void fix() {
    fixedSequence = lastSequence;
  }

  /** Hands over the group without its last commit, and that commit if it has several parts. */
  private void separate(Event event, int before, List<RecordWriter> parts, long nowNanos) {
    buffer.truncate(before);
    if (before > 0) {
      handOver(event.timeMillis(), event.number() - 1, false);
    }
    gatheringSinceNanos = nowNanos;
    for (RecordWriter part : parts.subList(0, parts.size() - 1)) {
      buffer = part;
      handOver(event.timeMillis(), event.number() - 1, false);
    }
    buffer = parts.getLast();
    events.add(event);
    if (parts.size() > 1) {
      handOver(event.timeMillis(), event.number(), false);
      fix();
    }
  }

  /** Adds a record that is not a commit to the current group. */
  void add(JournalRecord journalRecord) {
    Records.write(buffer, journalRecord);
  }

  /** The frame of the newest record, for which an answer that depends on it must wait. */
  long newestSequence() {
    return buffer.isEmpty() ? lastSequence : lastSequence + 1;
  }

  long durableSequence() {
    return durableSequence;
  }

  /** The number of commits that {@link #takeDurable} has returned, and all before them. */
  long durableCommits() {
    return durableCommits;
  }

  long frames() {
    return frames;
  }

  /** Tells the journal that the loop works; returns the nanoseconds until the next time. */
  long beat() {
    return journal.beat();
  }

  /** Whether no other leader can have begun yet; see {@link Journal.Leader#holdsLease}. */
  boolean holdsLease() {
    return journal.holdsLease();
  }

  /** The failure of the journal; null if there is none. */
  @Nullable Throwable failure() {
    return failure;
  }

  /** The shortage of the journal; null if there is none. */
  Journal.@Nullable Shortage shortage() {
    return journal.shortage();
  }

  /** Whether a commit fits into the journal during a shortage. */
  boolean hasRoom(Event event, Journal.Shortage shortage) {
    RecordWriter encoded = new RecordWriter();
    Records.write(encoded, new JournalRecord.Committed(event));
    return buffer.size() + encoded.size() + CLOSING_BYTES <= shortage.roomBytes();
  }

  boolean isGathering() {
    return !buffer.isEmpty();
  }

  boolean isFull() {
    return buffer.size() >= LARGE;
  }

  boolean isIdle() {
    return buffer.isEmpty() && inFlight.isEmpty();
  }

  /** The bytes that are not known to be durable. */
  long unsyncedBytes() {
    return buffer.size() + inFlightBytes;
  }

  /** Since when the oldest commit has been waiting for the disk; {@code nowNanos} if none waits. */
  long unsyncedSinceNanos(long nowNanos) {
    InFlight oldest = inFlight.peek();
    if (oldest != null) {
      return oldest.sinceNanos();
    }
    return buffer.isEmpty() ? nowNanos : gatheringSinceNanos;
  }

  /**
   * Hands the group to the journal if the journal is free; returns the frame, or null.
   *
   * @param soon whether to hand it over during a sync too, so that the next sync can start as soon
   *     as that one ends
   */
  @Nullable Frame flush(long nowMillis, long commits, boolean soon) {
    if (buffer.isEmpty()
        || inFlight.size() >= MAX_IN_FLIGHT
        || (!inFlight.isEmpty() && !isFull() && !soon)) {
      return null;
    }
    return handOver(nowMillis, commits, soon);
  }

  private Frame handOver(long nowMillis, long commits, boolean soon) {
    Frame frame =
        new Frame(
            lastSequence + 1, epoch, writer, nowMillis, durableSequence, commits, buffer.view());
    syncing = soon && inFlight.isEmpty() ? Thread.currentThread() : null;
    CompletableFuture<Void> appended =
        syncing == null ? journal.append(frame) : journal.appendAndSync(frame);
    CompletableFuture<Void> done =
        appended.whenComplete((_, thrown) -> settle(frame.sequence(), thrown));
    syncing = null;
    inFlight.add(new InFlight(frame, events, buffer, gatheringSinceNanos, done));
    inFlightBytes += buffer.size();
    lastSequence++;
    frames++;
    RecordWriter reused = spare.poll();
    buffer = reused == null ? new RecordWriter() : reused;
    events = new ArrayList<>();
    handedOver.accept(frame);
    return frame;
  }

  /**
   * Called on the syncing thread, which is the loop's if the frame was synced at once. A failure is
   * always signalled, because the loop checks for one only at the beginning of a step.
   */
  private void settle(long sequence, @Nullable Throwable thrown) {
    if (thrown != null) {
      Throwable cause = thrown instanceof CompletionException ? thrown.getCause() : null;
      failure = cause == null ? thrown : cause;
    } else {
      durableSequence = sequence;
    }
    Driver woken = bell;
    if (woken != null && (thrown != null || !Thread.currentThread().equals(syncing))) {
      woken.signal();
    }
  }

  /** The commits that have become durable since the last call, in order. */
  List<Event> takeDurable() {
    long durable = durableSequence;
    List<Event> taken = List.of();
    while (true) {
      InFlight first = inFlight.peek();
      if (first == null || first.frame().sequence() > durable) {
        return taken;
      }
      inFlight.remove();
      inFlightBytes -= first.buffer().size();
      durableCommits = first.frame().position();
      if (taken.isEmpty()) {
        taken = first.events();
      } else {
        taken = new ArrayList<>(taken);
        taken.addAll(first.events());
      }
      if (first.buffer().size() <= KEPT_BUFFER) {
        first.buffer().clear();
        spare.add(first.buffer());
      }
    }
  }
}
