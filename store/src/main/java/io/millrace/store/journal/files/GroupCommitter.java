package io.millrace.store.journal.files;

import io.millrace.store.environment.Activity;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.FrameCodec;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.UnknownOutcomeException;
import io.millrace.store.journal.files.SpareSegment.NoRoomException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes queued frames, and makes them durable with one sync.
 *
 * <p>There are two kinds of failures. If there is no room for the next segment, no frame is
 * affected: this reports a {@linkplain #shortage shortage}, frames that do not fit wait for up to a
 * minute, and the allocation is retried every second. If a write or a sync fails, the content of
 * the disk is uncertain: all frames that are not durable fail, and all later ones.
 */
final class GroupCommitter implements Activity {
  private static final Logger LOG = LoggerFactory.getLogger(GroupCommitter.class);
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** How long frames may wait for room. Frames wait only if a shortage was not announced before. */
  private static final long LONGEST_WAIT_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** If syncs take longer than this on average, in nanoseconds, callers do not run them. */
  private static final long QUICK_SYNC_NANOS = 500_000;

  /** Writing a frame of this size takes about as long as a handover to another thread. */
  private static final int QUICK_FRAME_BYTES = 64 << 10;

  private record Pending(Frame frame, CompletableFuture<Void> done) {
    long sizeBytes() {
      return FrameCodec.sizeBytes(frame.payload().remaining());
    }
  }

  private final ActiveSegment segment;
  private final String folder;
  private final LongSupplier nanos;

  // For the syncing thread.
  private final ArrayDeque<Pending> waiting = new ArrayDeque<>();
  private final ArrayDeque<Pending> written = new ArrayDeque<>();
  private boolean ready;
  private long retryAtNanos;
  private long stuckSinceNanos;

  // Guarded by this.
  private List<Pending> queue = new ArrayList<>();
  private List<Pending> other = new ArrayList<>();
  private long unsyncedFrameBytes;
  private boolean closing;
  private @Nullable JournalException failure;
  private long freeBytes;
  private boolean stuck;

  /** A running mean of the duration of a sync; at first slow. Written by the syncing thread. */
  private volatile long meanSyncNanos = 2 * QUICK_SYNC_NANOS;

  /** The free bytes of the segment. Written by the syncing thread. */
  private volatile long roomBytes;

  /** Why there is no room for the next segment; null if there is. Written by the syncing thread. */
  private volatile @Nullable String noRoom;

  /** Appends to {@code segment}; {@code nanos} is a monotonic clock. */
  GroupCommitter(ActiveSegment segment, String folder, LongSupplier nanos) {
    this.folder = folder;
    this.segment = segment;
    this.nanos = nanos;
  }

  /** Queues a frame; the caller signals the driver. */
  CompletableFuture<Void> add(Frame frame) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    JournalException refusal;
    synchronized (this) {
      if (failure == null && !closing) {
        Pending pending = new Pending(frame, done);
        queue.add(pending);
        unsyncedFrameBytes += pending.sizeBytes();
        return done;
      }
      refusal = failure != null ? failure : new JournalException("the journal is closed");
    }
    done.completeExceptionally(refusal);
    return done;
  }

  /**
   * Whether syncing the next frame on the caller's thread is likely to be quick: syncs are quick,
   * and the frame is small and needs no new segment.
   */
  boolean isQuickFor(Frame frame) {
    long bytes = FrameCodec.sizeBytes(frame.payload().remaining());
    return bytes <= QUICK_FRAME_BYTES
        && meanSyncNanos <= QUICK_SYNC_NANOS
        && bytes <= roomBytes
        && noRoom == null;
  }

  /** The bytes of the frames that are not durable yet, including headers and padding. */
  synchronized long unsyncedFrameBytes() {
    return unsyncedFrameBytes;
  }

  /** See {@link Journal.Leader#shortage}. */
  Journal.@Nullable Shortage shortage() {
    String why = noRoom;
    if (why == null) {
      return null;
    }
    synchronized (this) {
      long room = freeBytes - unsyncedFrameBytes() - FrameCodec.sizeBytes(FrameCodec.ALIGNMENT);
      return new Journal.Shortage(why, Math.max(0, room), stuck);
    }
  }

  /** Ends the activity once the queue is empty; the caller signals the driver. */
  synchronized void finish() {
    closing = true;
  }

  @Override
  public long step() {
    boolean last;
    try {
      last = takeQueued();
      write(last);
      if (last) {
        close();
        return FINISHED;
      }
      return isFailed() ? UNTIL_SIGNALLED : prepareNext();
    } catch (Throwable e) {
      // Errors too: every future must complete.
      fail(e);
    }
    return isClosing() ? close() : UNTIL_SIGNALLED;
  }

  private boolean takeQueued() {
    List<Pending> group;
    boolean last;
    synchronized (this) {
      group = queue;
      queue = other;
      other = group;
      last = closing;
    }
    waiting.addAll(group);
    group.clear();
    return last;
  }

  private void write(boolean last) throws IOException {
    for (Pending pending = waiting.peek(); pending != null; pending = waiting.peek()) {
      if (segment.isFullFor(pending.sizeBytes())) {
        // The existence of the next segment means that everything before it is durable.
        sync();
        if (!roll(pending.sizeBytes(), last)) {
          break;
        }
      }
      segment.write(pending.frame);
      written.add(pending);
      waiting.remove();
    }
    sync();
    synchronized (this) {
      if (!stuck) {
        stuckSinceNanos = nanos.getAsLong();
      }
      stuck = !waiting.isEmpty();
    }
  }

  /** Switches to the next segment. Returns false if there is no room for it. */
  private boolean roll(long frameBytes, boolean last) {
    if (noRoom != null && !last && nanos.getAsLong() - retryAtNanos < 0) {
      return false;
    }
    try {
      segment.roll(frameBytes);
      return true;
    } catch (NoRoomException e) {
      if (last || !ready || isStuckForLong()) {
        // A close does not wait for room, and neither does the first frame of an opening.
        throw new JournalException(String.valueOf(e.getMessage()), e);
      }
      report(e);
      return false;
    } catch (IOException e) {
      throw new JournalException("the next segment: " + e.getMessage(), e);
    }
  }

  private synchronized boolean isStuckForLong() {
    return stuck && nanos.getAsLong() - stuckSinceNanos >= LONGEST_WAIT_NANOS;
  }

  private void sync() throws IOException {
    if (!written.isEmpty()) {
      long began = nanos.getAsLong();
      segment.sync();
      long mean = meanSyncNanos;
      meanSyncNanos = mean + (nanos.getAsLong() - began - mean) / 16;
      roomBytes = segment.freeBytes();
      ready = true;
    }
    long frameBytes = 0;
    for (Pending pending : written) {
      frameBytes += pending.sizeBytes();
    }
    synchronized (this) {
      unsyncedFrameBytes -= frameBytes;
      freeBytes = segment.freeBytes();
    }
    while (!written.isEmpty()) {
      written.remove().done.complete(null);
    }
  }

  /** Prepares a part of the next segment; returns the time until the next part. */
  private long prepareNext() {
    String before = noRoom;
    if (before != null && nanos.getAsLong() - retryAtNanos < 0) {
      return Math.max(1, retryAtNanos - nanos.getAsLong());
    }
    try {
      boolean more = segment.prepareNext(before != null);
      if (before != null && !more) {
        noRoom = null;
        LOG.info("the journal in {} has room again; growth is accepted", folder);
        return waiting.isEmpty() ? UNTIL_SIGNALLED : 0;
      }
      return more ? 0 : UNTIL_SIGNALLED;
    } catch (NoRoomException e) {
      report(e);
      return RETRY_NANOS;
    }
  }

  /** Logs a warning for the first failure only. */
  private void report(NoRoomException e) {
    retryAtNanos = nanos.getAsLong() + RETRY_NANOS;
    if (noRoom == null) {
      LOG.warn(
          "{}. Growth is refused as full; claims, deletes and shrinking changes continue in the"
              + " remaining {} bytes. The allocation is retried every second",
          e.getMessage(),
          segment.freeBytes());
    }
    noRoom = String.valueOf(e.getMessage());
  }

  private void fail(Throwable cause) {
    List<Pending> lost;
    JournalException known;
    synchronized (this) {
      if (failure == null) {
        failure =
            new UnknownOutcomeException(
                "the journal failed: " + cause.getMessage() + " (folder " + folder + ")", cause);
      }
      known = failure;
      lost = queue;
      queue = new ArrayList<>();
    }
    // Futures that have completed are not affected.
    written.forEach(pending -> pending.done.completeExceptionally(known));
    waiting.forEach(pending -> pending.done.completeExceptionally(known));
    lost.forEach(pending -> pending.done.completeExceptionally(known));
    written.clear();
    waiting.clear();
  }

  @Override
  public void failed(Throwable thrown) {
    fail(thrown);
    close();
  }

  private synchronized boolean isFailed() {
    return failure != null;
  }

  private synchronized boolean isClosing() {
    return closing;
  }

  private long close() {
    try {
      segment.close();
    } catch (IOException e) {
      fail(e);
    }
    return FINISHED;
  }
}
