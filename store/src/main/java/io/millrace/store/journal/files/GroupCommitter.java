package io.millrace.store.journal.files;

import io.millrace.store.environment.Activity;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
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
 * Writes queued frames and makes all that were queued durable by one sync.
 *
 * <p>Two kinds of failure differ. If there is no room for the next segment, no frame has been
 * touched: the loop reports a {@linkplain #shortage shortage}, frames that do not fit wait for up
 * to a minute, and room is tried for again every second. If a write or a sync fails, what is on
 * disk is uncertain: everything fails that was not durable before, for good.
 */
final class GroupCommitter implements Activity {
  private static final Logger LOG = LoggerFactory.getLogger(GroupCommitter.class);
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** How long frames may wait for room. There are some only if a shortage comes at once. */
  private static final long LONGEST_WAIT_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** A sync that takes longer than this on average, in nanoseconds, has a thread of its own. */
  private static final long QUICK_SYNC_NANOS = 500_000;

  /** Of so many bytes a frame is written in about the time that a hand-over takes. */
  private static final int QUICK_FRAME_BYTES = 64 << 10;

  private record Pending(Frame frame, CompletableFuture<Void> done) {
    long sizeBytes() {
      return FrameFormat.sizeBytes(frame.payload().remaining());
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

  /** A running mean of how long a sync takes; slow until known. Written by the syncing thread. */
  private volatile long meanSyncNanos = 2 * QUICK_SYNC_NANOS;

  /** Bytes of frames for which the segment has room. Written by the syncing thread. */
  private volatile long roomBytes;

  /** Why the next segment could not be had; null while it can. Written by the syncing thread. */
  private volatile @Nullable String noRoom;

  /** Appends to {@code segment}; {@code nanos} is a clock that never goes back. */
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
   * Whether the next frame is likely to be durable soon if the caller's thread does it: syncs are
   * quick, and the frame needs no new segment.
   */
  boolean isQuickFor(Frame frame) {
    long bytes = FrameFormat.sizeBytes(frame.payload().remaining());
    return bytes <= QUICK_FRAME_BYTES
        && meanSyncNanos <= QUICK_SYNC_NANOS
        && bytes <= roomBytes
        && noRoom == null;
  }

  /** The bytes of the frames that are not durable yet, headers and padding included. */
  synchronized long unsyncedFrameBytes() {
    return unsyncedFrameBytes;
  }

  /** See {@link Journal#shortage}. */
  Journal.@Nullable Shortage shortage() {
    String why = noRoom;
    if (why == null) {
      return null;
    }
    synchronized (this) {
      long room = freeBytes - unsyncedFrameBytes() - FrameFormat.sizeBytes(FrameFormat.ALIGNMENT);
      return new Journal.Shortage(why, Math.max(0, room), stuck);
    }
  }

  /** Makes the loop end once the queue is empty; the caller signals the driver. */
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
      // Errors too: a caller must not wait for a future that will never complete.
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
        // The next segment's existence says that everything before it is durable.
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

  /** Whether the next segment could be had. */
  private boolean roll(long frameBytes, boolean last) {
    if (noRoom != null && !last && nanos.getAsLong() - retryAtNanos < 0) {
      return false;
    }
    try {
      segment.roll(frameBytes);
      return true;
    } catch (NoRoomException e) {
      if (last || !ready || isStuckForLong()) {
        // Nobody waits any longer at a close, and an opening says at once that it cannot be.
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

  /** The next step towards the next segment; gives the time until another is due. */
  private long prepareNext() {
    String before = noRoom;
    if (before != null && nanos.getAsLong() - retryAtNanos < 0) {
      return Math.max(1, retryAtNanos - nanos.getAsLong());
    }
    try {
      boolean more = segment.prepareNext(before != null);
      if (before != null && !more) {
        noRoom = null;
        LOG.info("the journal in {} has room again, and growth is accepted", folder);
        return waiting.isEmpty() ? UNTIL_SIGNALLED : 0;
      }
      return more ? 0 : UNTIL_SIGNALLED;
    } catch (NoRoomException e) {
      report(e);
      return RETRY_NANOS;
    }
  }

  /** Warns once, however often the next tries fail. */
  private void report(NoRoomException e) {
    retryAtNanos = nanos.getAsLong() + RETRY_NANOS;
    if (noRoom == null) {
      LOG.warn(
          "{}. Growth is refused as full; claims, deletes and shrinking changes go on in the {}"
              + " bytes that are left. The room is asked for again every second",
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
            new JournalException(
                "the journal failed: " + cause.getMessage() + " (folder " + folder + ")", cause);
      }
      known = failure;
      lost = queue;
      queue = new ArrayList<>();
    }
    // Those that were completed before stay as they are.
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
