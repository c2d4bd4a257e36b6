package io.millrace.store.journal;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Where a store keeps its frames and snapshots.
 *
 * <p>{@link #recover} is called first and once. After that one thread calls {@link #append}; {@link
 * #snapshot}, {@link #read} and {@link #trim} may be called by others.
 */
public interface Journal extends AutoCloseable {
  /** Receives what recovery finds. Payloads are only valid during the call. */
  interface Replay {
    /**
     * Reads a part of a snapshot, in the order written. Called by a thread that reads ahead, so it
     * changes nothing.
     *
     * @return puts what was read into the state; run in the same order by the thread that recovers,
     *     for which the payload is not valid any more
     */
    Runnable snapshotPart(ByteBuffer payload);

    /** Forgets every part: their snapshot is damaged, and another follows or none. */
    void reset();

    /** A frame after the snapshot. */
    void frame(Frame frame);
  }

  /**
   * Where the journal ended.
   *
   * @param sequence the last frame, 0 for none; of a snapshot without later frames, its frame
   * @param epoch the newest epoch, 0 for none: that of this frame, or a later one of which no frame
   *     was found
   * @param position the number of commits up to there
   * @param timeMillis the store time of that frame, 0 for none
   * @param notice what recovery could not read and went on without, in words; null for nothing
   * @param cuts how often there was something after that frame that could not be read: 1 if now,
   *     and 1 for each earlier recovery of which nothing that was appended since can be read. It
   *     may have been acknowledged, so nothing that it may have used, such as an id, may be used
   *     again
   * @param lostEpochs the most epochs that may have begun in what could not be read
   */
  record Tail(
      long sequence,
      long epoch,
      long position,
      long timeMillis,
      @Nullable String notice,
      int cuts,
      long lostEpochs) {}

  /**
   * Delivers the newest whole snapshot and every frame after it, leaves out a torn tail, and makes
   * all that it delivered durable.
   *
   * @throws DamagedJournalException when something that was durable is not readable
   * @throws JournalException when the disk fails
   */
  Tail recover(Replay replay);

  /**
   * Adds a frame whose number follows the last one's. The payload must not change until the future
   * completes.
   *
   * @return completes, on the thread that syncs, when the frame and all before it are durable;
   *     fails with {@link JournalException} when that cannot be promised, and so do all later ones
   */
  CompletableFuture<Void> append(Frame frame);

  /**
   * Adds a frame as {@link #append} does, for a caller that has nothing else to do until it is
   * durable: the journal may make it durable on the calling thread if no frame is on its way and
   * that is likely to be quick. The future is complete then.
   */
  default CompletableFuture<Void> appendAndSync(Frame frame) {
    return append(frame);
  }

  /**
   * Begins a snapshot of the state after {@code frame}, of which only the header counts.
   *
   * @throws JournalException when the disk fails
   */
  SnapshotWriter snapshot(Frame frame);

  /** A snapshot being written. For use by one thread at a time. */
  interface SnapshotWriter {
    /** Writes a part. */
    void part(ByteBuffer payload);

    /** Makes it durable and the newest snapshot; its frame must be durable by then. */
    void publish();

    /** Throws it away. */
    void abandon();
  }

  /** Reads durable frames that hold commits after a position, in order. */
  interface Reader extends AutoCloseable {
    /**
     * The next frame, valid until the next call, or null at the end of what is durable now; a later
     * call may find more. For use by one thread at a time.
     *
     * @throws DamagedJournalException when a frame is not readable any more
     * @throws JournalException when the disk fails
     */
    @Nullable Frame next();

    @Override
    void close();
  }

  /**
   * Opens a reader at the first frame that holds commits after {@code position}.
   *
   * @return null when such frames are not kept any more
   */
  @Nullable Reader read(long position);

  /**
   * Removes what neither the last two snapshots nor a reader at {@code keepAfterPosition} needs.
   *
   * @param keepAfterPosition frames with commits after this position are kept; {@link
   *     Long#MAX_VALUE} for no such wish
   */
  void trim(long keepAfterPosition);

  /**
   * A lack of room that can pass: nothing is lost by it, and the journal asks for room again by
   * itself.
   *
   * @param why what is missing, in words
   * @param roomBytes the payload of one more frame that has room now, in bytes, 0 or more
   * @param stuck whether frames that were appended wait for room
   */
  record Shortage(String why, long roomBytes, boolean stuck) {}

  /**
   * Why the journal cannot have more room than it has now; null, the default, while it can. Safe
   * for use by any thread.
   */
  default @Nullable Shortage shortage() {
    return null;
  }

  /**
   * The bytes that are free where the journal keeps its files; {@link Long#MAX_VALUE}, the default,
   * when that is not known. Safe for use by any thread.
   */
  default long freeBytes() {
    return Long.MAX_VALUE;
  }

  /** Makes everything appended durable and releases the journal. */
  @Override
  void close();
}
