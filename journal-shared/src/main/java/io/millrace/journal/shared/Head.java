package io.millrace.journal.shared;

import io.millrace.store.journal.Chain;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Where the journal of a store ends.
 *
 * @param journalId the random identity of the journal, which the checksums of its frames include
 * @param chain the last frame
 * @param writer the random number of its writer
 * @param totalBytes the size of all frames ever appended
 * @param first the first frame that is kept
 * @param firstPosition the number of commits before it
 * @param snapshot the newest snapshot
 * @param older the one before it
 * @param renewals changes with each renewal of the lease
 * @param resigned whether the leader has ended on purpose
 * @param address where clients reach the leader; null if it has announced nothing
 */
public record Head(
    long journalId,
    Chain chain,
    long writer,
    long totalBytes,
    long first,
    long firstPosition,
    Snapshot snapshot,
    Snapshot older,
    long renewals,
    boolean resigned,
    @Nullable String address) {
  /** The head of a new store. */
  public static Head first(long journalId) {
    return new Head(
        journalId, Chain.START, 0, 0, 1, 0, Snapshot.NONE, Snapshot.NONE, 0, true, null);
  }

  /** The head after an append: somebody leads, and has announced nothing here. */
  public Head withEnd(Chain end, long itsWriter, long bytes) {
    return new Head(
        journalId,
        end,
        itsWriter,
        bytes,
        first,
        firstPosition,
        snapshot,
        older,
        renewals,
        false,
        null);
  }

  /** The head with another first frame. */
  public Head withFirst(long kept, long commitsBefore) {
    return new Head(
        journalId,
        chain,
        writer,
        totalBytes,
        kept,
        commitsBefore,
        snapshot,
        older,
        renewals,
        resigned,
        address);
  }

  /** The head with a newer snapshot. */
  public Head withSnapshot(Snapshot newest) {
    return new Head(
        journalId,
        chain,
        writer,
        totalBytes,
        first,
        firstPosition,
        newest,
        snapshot,
        renewals,
        resigned,
        address);
  }

  /** The head with other signs of life. */
  public Head withSigns(long signs, boolean hasEnded, @Nullable String where) {
    return new Head(
        journalId,
        chain,
        writer,
        totalBytes,
        first,
        firstPosition,
        snapshot,
        older,
        signs,
        hasEnded,
        where);
  }

  /** Whether nothing has been stored yet. */
  boolean isNew() {
    return chain.sequence() == 0 && snapshot.equals(Snapshot.NONE);
  }

  /** Whether a restore has begun and not ended. */
  boolean isIncomplete() {
    return snapshot.sequence() < 0;
  }

  /**
   * A snapshot that was read back.
   *
   * @param sequence the frame after which it was taken; 0 for none
   * @param upload the random number under which its chunks are stored
   */
  public record Snapshot(long sequence, long upload) {
    /** No snapshot. */
    public static final Snapshot NONE = new Snapshot(0, 0);

    /** In place of the newest snapshot while a restore with this random number is under way. */
    public static Snapshot unfinished(long upload) {
      return new Snapshot(-1, upload);
    }
  }

  /**
   * What is told of a frame without its bytes.
   *
   * @param position the number of commits up to and including it
   * @param timeMillis its store time
   * @param totalBytes the size of it and all frames before it
   */
  public record FrameMark(long position, long timeMillis, long totalBytes) {}

  /**
   * A frame as it is stored.
   *
   * @param sequence its number
   * @param position the number of commits up to and including it
   * @param timeMillis its store time
   * @param totalBytes the size of it and all frames before it
   * @param frame its bytes in an array of their own, never moved; two rows are the same if their
   *     contents are
   */
  public record Row(
      long sequence, long position, long timeMillis, long totalBytes, ByteBuffer frame) {
    /** The same for the bytes of a whole array. */
    public Row(long sequence, long position, long timeMillis, long totalBytes, byte[] frame) {
      this(sequence, position, timeMillis, totalBytes, ByteBuffer.wrap(frame));
    }
  }
}
