package io.millrace.store.journal;

import io.millrace.store.environment.Activity;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Writes queued frames and makes all that were queued durable by one sync. */
final class SyncLoop implements Activity {
  private record Pending(Frame frame, CompletableFuture<Void> done) {}

  private final ActiveSegment segment;
  private final String folder;
  private final ArrayDeque<Pending> written = new ArrayDeque<>();

  // Guarded by this.
  private List<Pending> queue = new ArrayList<>();
  private List<Pending> other = new ArrayList<>();
  private long unsyncedBytes;
  private boolean closing;
  private @Nullable JournalException failure;

  SyncLoop(ActiveSegment segment, String folder) {
    this.folder = folder;
    this.segment = segment;
  }

  /** Queues a frame; the caller signals the driver. */
  CompletableFuture<Void> add(Frame frame) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    JournalException refusal;
    synchronized (this) {
      if (failure == null && !closing) {
        queue.add(new Pending(frame, done));
        unsyncedBytes += frame.payload().remaining();
        return done;
      }
      refusal = failure != null ? failure : new JournalException("the journal is closed");
    }
    done.completeExceptionally(refusal);
    return done;
  }

  synchronized long unsyncedBytes() {
    return unsyncedBytes;
  }

  /** Makes the loop end once the queue is empty; the caller signals the driver. */
  synchronized void finish() {
    closing = true;
  }

  @Override
  public long step() {
    List<Pending> group;
    boolean last;
    synchronized (this) {
      group = queue;
      queue = other;
      other = group;
      last = closing;
    }
    try {
      write(group);
    } catch (Throwable e) {
      // Errors too: a caller must not wait for a future that nobody will complete.
      fail(e, group);
    }
    group.clear();
    if (last) {
      close();
      return FINISHED;
    }
    return isFailed() ? UNTIL_SIGNALLED : prepareNext();
  }

  private void write(List<Pending> group) throws IOException {
    for (Pending pending : group) {
      long bytes = FrameFormat.sizeBytes(pending.frame.payload().remaining());
      if (segment.isFullFor(bytes)) {
        // The next segment's existence says that everything before it is durable.
        sync();
        segment.roll(bytes);
      }
      segment.write(pending.frame);
      written.add(pending);
    }
    if (!written.isEmpty()) {
      sync();
    }
  }

  private void sync() throws IOException {
    segment.sync();
    long bytes = 0;
    for (Pending pending : written) {
      bytes += pending.frame.payload().remaining();
    }
    synchronized (this) {
      unsyncedBytes -= bytes;
    }
    while (!written.isEmpty()) {
      written.remove().done.complete(null);
    }
  }

  private void fail(Throwable cause, List<Pending> group) {
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
    written.clear();
    // Those that were completed before stay as they are.
    group.forEach(pending -> pending.done.completeExceptionally(known));
    lost.forEach(pending -> pending.done.completeExceptionally(known));
  }

  private long prepareNext() {
    return segment.prepareNext() ? 0 : UNTIL_SIGNALLED;
  }

  private synchronized boolean isFailed() {
    return failure != null;
  }

  private void close() {
    try {
      segment.close();
    } catch (IOException e) {
      fail(e, List.of());
    }
  }
}
