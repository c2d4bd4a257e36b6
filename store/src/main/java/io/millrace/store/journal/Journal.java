package io.millrace.store.journal;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Stores the frames and snapshots of a store.
 *
 * <p>{@link #recover} is called first, and once. After that, one thread calls {@link #append} and
 * {@link #appendAndSync}; {@link #snapshot}, {@link #read} and {@link #trim} may be called by other
 * threads.
 */
public interface Journal extends AutoCloseable {
  /**
   * Receives the content of the journal during recovery. Payloads are valid only during the call.
   */
  interface Replay {
    /**
     * Decodes a part of a snapshot, in the order written. Called by a thread that reads ahead, so
     * it must not change the state.
     *
     * @return an action that adds the decoded part to the state; the recovering thread runs these
     *     actions in the same order, when the payload is no longer valid
     */
    Runnable snapshotPart(ByteBuffer payload);

    /**
     * Discards all parts, because their snapshot is damaged. Those of another snapshot may follow.
     */
    void reset();

    /** Applies a frame after the snapshot. */
    void frame(Frame frame);
  }

  /**
   * The end of the journal.
   *
   * @param sequence the last frame; if there is none after the snapshot, that of the snapshot; 0
   *     for none
   * @param epoch the newest epoch, 0 for none: that of this frame, or a later one without a
   *     readable frame
   * @param position the number of commits up to that frame
   * @param timeMillis the store time of that frame, 0 for none
   * @param notice a warning about parts that recovery could not read and left out; null for none
   * @param cuts how many times an unreadable part after that frame was left out: 1 if by this
   *     recovery, plus 1 for each earlier recovery after which no appended frame is readable. Such
   *     a part may have been acknowledged, so ids that it may contain must not be used again
   * @param lostEpochs the largest number of epochs that may have begun in the parts left out
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
   * Delivers the newest complete snapshot and every frame after it, leaves out a torn tail, and
   * makes everything that it delivers durable.
   *
   * @throws DamagedJournalException if a durable part is unreadable
   * @throws JournalException if the disk fails
   */
  Tail recover(Replay replay);

  /**
   * Appends the frame with the next number. The payload must not change until the future completes.
   *
   * @return completes on the syncing thread when this frame and all before it are durable; fails
   *     with {@link JournalException} if that is uncertain, and then all later appends fail too
   */
  CompletableFuture<Void> append(Frame frame);

  /**
   * The same as {@link #append}, for a caller that has nothing else to do until the frame is
   * durable: if no other frame is being written and a sync is likely to be quick, the journal may
   * sync on the calling thread. The future is then complete when this returns.
   */
  default CompletableFuture<Void> appendAndSync(Frame frame) {
    return append(frame);
  }

  /**
   * Starts a snapshot of the state after {@code frame}, whose payload is not used.
   *
   * @throws JournalException if the disk fails
   */
  SnapshotWriter snapshot(Frame frame);

  /** A snapshot being written. For use by one thread at a time. */
  interface SnapshotWriter {
    /** Writes a part. */
    void part(ByteBuffer payload);

    /** Makes it durable and the newest snapshot. Its frame must be durable. */
    void publish();

    /** Deletes it. */
    void abandon();
  }

  /** Reads the durable frames with commits after a position, in order. */
  interface Reader extends AutoCloseable {
    /**
     * The next frame, valid until the next call; null after the last one that is durable now. A
     * later call may find more. For use by one thread at a time.
     *
     * @throws DamagedJournalException if the frame is unreadable
     * @throws JournalException if the disk fails
     */
    @Nullable Frame next();

    @Override
    void close();
  }

  /**
   * Opens a reader at the first frame with commits after {@code position}.
   *
   * @return null if that frame is no longer kept
   */
  @Nullable Reader read(long position);

  /**
   * Removes the files that neither the last two snapshots nor a reader at {@code keepAfterPosition}
   * need.
   *
   * @param keepAfterPosition frames with commits after this position are kept; {@link
   *     Long#MAX_VALUE} to keep none
   */
  void trim(long keepAfterPosition);

  /**
   * A temporary lack of room. Nothing is lost, and the journal tries again by itself.
   *
   * @param why what is missing, for people
   * @param roomBytes the largest payload of one more frame that fits now, in bytes, 0 or more
   * @param stuck whether appended frames wait for room
   */
  record Shortage(String why, long roomBytes, boolean stuck) {}

  /** The current shortage; null, the default, if there is none. Thread-safe. */
  default @Nullable Shortage shortage() {
    return null;
  }

  /**
   * The free bytes of the disk of the journal; {@link Long#MAX_VALUE}, the default, if unknown.
   * Thread-safe.
   */
  default long freeBytes() {
    return Long.MAX_VALUE;
  }

  /** Makes all appended frames durable and releases all resources. */
  @Override
  void close();
}
