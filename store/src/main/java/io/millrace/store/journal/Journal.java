package io.millrace.store.journal;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The place where the frames and snapshots of a store are kept: files, or a database that several
 * machines share.
 *
 * <p>Anyone may {@link #follow} it, which locks nothing and changes nothing. One at a time {@link
 * #lead leads} it. If a second one could lead, it either is refused at its {@link #lead}, or fences
 * the first with the first frame that it appends. A journal is for use by one thread, and so is its
 * {@link Leader} except where it says otherwise.
 */
public interface Journal extends AutoCloseable {
  /** Receives the content of the journal. Payloads are valid only during the call. */
  interface Replay {
    /**
     * Decodes a part of a snapshot, in the order written. May be called by a thread that reads
     * ahead, so it must not change the state.
     *
     * @return an action that adds the decoded part to the state; the recovering thread runs these
     *     actions in the same order, when the payload is no longer valid
     */
    Runnable snapshotPart(ByteBuffer payload);

    /**
     * Discards everything delivered so far. A snapshot may follow, or frame 1: because the parts
     * before were of a damaged snapshot, or because the frames after those delivered before are no
     * longer kept.
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
   * Delivers what is durable after frame {@code after}. If that is 0, or the frames after it are no
   * longer kept, begins with {@link Replay#reset} and the newest complete snapshot. Locks nothing
   * and changes nothing, and may be repeated: a follower that has read frame n passes n, until
   * frame n + 1 is there. If it throws, what it has delivered counts: after frame n the next call
   * passes n, and after a reset that no frame has followed 0.
   *
   * @param after the last frame delivered before, 0 for none
   * @return the last frame delivered, or that of the snapshot; {@code after} if there is nothing
   *     new
   * @throws DamagedJournalException if a durable part is unreadable
   * @throws JournalException if the journal cannot be read now
   */
  long follow(Replay replay, long after);

  /**
   * Delivers the rest as {@link #follow} does, leaves out a torn tail, makes everything that it
   * delivers durable, and begins to lead. Called once.
   *
   * @param after the last frame delivered before by {@link #follow} to the same {@code replay}, 0
   *     for none
   * @throws DamagedJournalException if a durable part is unreadable
   * @throws JournalException if another one leads and this journal does not fence, or the journal
   *     cannot be read and written
   */
  Leader lead(Replay replay, long after);

  /**
   * A sign of life of whoever leads the journal.
   *
   * @param sequence the last frame
   * @param renewals changes with each renewal of the lease
   * @param vacant whether nobody leads: the journal is new, or its leader has ended on purpose
   * @param lease how long a leader may answer after its last sign
   * @param address what the leader has announced, see {@link Leader#announce}; null for nothing
   */
  record Pulse(
      long sequence, long renewals, boolean vacant, Duration lease, @Nullable String address) {
    /** The same without an address. */
    public Pulse(long sequence, long renewals, boolean vacant, Duration lease) {
      this(sequence, renewals, vacant, lease, null);
    }

    /** Whether the leader has given no other sign than in {@code earlier}. */
    public boolean isSilentSince(Pulse earlier) {
      return sequence == earlier.sequence
          && renewals == earlier.renewals
          && vacant == earlier.vacant;
    }
  }

  /**
   * The newest sign of life of the leader, which may be another process; null, the default, if
   * nobody has to wait for one, because a second leader is refused.
   *
   * @throws JournalException if the journal cannot be read now
   */
  default @Nullable Pulse pulse() {
    return null;
  }

  /** Makes all appended frames durable, ends to lead, and releases all resources. */
  @Override
  void close();

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
   * A temporary lack of room. Nothing is lost, and the journal tries again by itself.
   *
   * @param why what is missing, for people
   * @param roomBytes the largest payload of one more frame that fits now, in bytes, 0 or more
   * @param stuck whether appended frames wait for room
   */
  record Shortage(String why, long roomBytes, boolean stuck) {}

  /**
   * The one that appends. One thread calls {@link #append} and {@link #appendAndSync}; {@link
   * #snapshot}, {@link #read} and {@link #trim} may be called by other threads. The end of its
   * {@link Journal} ends it.
   */
  interface Leader {
    /** The end of the journal when this one began to lead. */
    Tail tail();

    /**
     * Appends the frame with the next number. The first one of a leader has a larger epoch than
     * every frame before it. The payload must not change until the future completes.
     *
     * @return completes on the journal's thread when this frame and all before it are durable.
     *     Fails with {@link FencedException} if it is not written because there is another leader,
     *     with {@link UnknownOutcomeException} if it may have been written, and with another {@link
     *     JournalException} if it is not written for another reason; then all later appends fail
     *     too
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
     * Takes back the frame that was appended last, so that the store can add to it and append it
     * again: a frame that waits while another is being written may grow meanwhile. Its future never
     * completes then.
     *
     * @return whether it was taken back; false if it is being written, or by default
     */
    default boolean takeBack(Frame frame) {
      return false;
    }

    /**
     * Renews the lease if that is due. The loop of the store calls it in each turn, so that a store
     * that does nothing any more loses its lease. Does not block.
     *
     * @return the nanoseconds after which to call it again, at least 1; {@link Long#MAX_VALUE}, the
     *     default, for no lease
     */
    default long beat() {
      return Long.MAX_VALUE;
    }

    /**
     * Whether no other leader can have begun yet, so that what this one has read is the newest.
     * Checked after the read. True by default. Thread-safe.
     */
    default boolean holdsLease() {
      return true;
    }

    /**
     * Tells followers where clients reach this leader, see {@link Pulse#address}, once its first
     * frame is durable. Tried again if it fails. Does not block. By default, nobody is told.
     *
     * @param address at most 1,000 characters
     */
    default void announce(String address) {}

    /** Receives what happens to a leader apart from its appends, on the thread of the journal. */
    interface Listener {
      /** The lease was renewed. */
      void renewed();

      /** No append can succeed any more. */
      void failed(JournalException why);
    }

    /** Sets the listener. By default, there is nothing to tell. */
    default void listen(Listener listener) {}

    /**
     * Starts a snapshot of the state after {@code frame}, whose payload is not used.
     *
     * @throws JournalException if the disk fails
     */
    SnapshotWriter snapshot(Frame frame);

    /**
     * Opens a reader at the first frame with commits after {@code position}.
     *
     * @param position -1 for the frames before the first commit too
     * @return null if that frame is no longer kept
     */
    @Nullable Reader read(long position);

    /**
     * Removes the files that neither the last two snapshots nor a reader at {@code
     * keepAfterPosition} need.
     *
     * @param keepAfterPosition frames with commits after this position are kept; {@link
     *     Long#MAX_VALUE} to keep none
     */
    void trim(long keepAfterPosition);

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
  }
}
