package io.millrace.journal.shared;

import io.millrace.journal.shared.Head.FrameMark;
import io.millrace.journal.shared.Head.Row;
import io.millrace.journal.shared.Head.Snapshot;
import io.millrace.store.journal.Chain;
import io.millrace.store.journal.JournalException;
import java.io.IOException;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * What a shared journal does where it is kept, through one connection: the seam between {@link
 * SharedJournal} and databases or buckets. Each method takes place as a whole or not at all. If it
 * throws {@link IOException}, it may have taken place, or may still take place; the next call opens
 * a new connection if that is needed. Safe for use by threads, one at a time.
 */
public interface JournalHome extends AutoCloseable {
  /** Any number of renewals. */
  long ANY = Long.MIN_VALUE;

  /**
   * Creates what is missing for a new store, and does what {@link #check} does.
   *
   * @throws JournalException if the place may lose commits, or is of a later version
   */
  void prepare(RandomGenerator random) throws IOException;

  /**
   * Checks that the place can be reached, and loses no commits that it has acknowledged.
   *
   * @throws JournalException if it may lose some
   */
  void check() throws IOException;

  /** The head of the store. */
  Head head() throws IOException;

  /**
   * Moves the head from {@code before} to the last of {@code rows} and stores them, if the head is
   * {@code before}.
   *
   * @param renewals how often its leader must have renewed the lease, for the first append of a new
   *     leader: one more renewal, and the one before still answers; {@link #ANY} for the others
   * @return whether it was
   */
  boolean append(Chain before, long renewals, Chain after, long writer, List<Row> rows)
      throws IOException;

  /** Stored frames from {@code from}, in order, up to about {@code maxBytes}, at least one. */
  List<Row> frames(long from, int maxBytes) throws IOException;

  /** A frame without its bytes; null if it is not stored. */
  @Nullable FrameMark mark(long sequence) throws IOException;

  /** Notes that the leader is alive; returns false if another one leads. */
  boolean renew(long epoch, long writer) throws IOException;

  /**
   * Asks a leader that has given no sign of life for half a lease for one that is in order with its
   * appends. The answer changes {@link Head#renewals}. Nothing, if {@link #renew} is in that order.
   *
   * @param silent the head as it was for so long
   */
  void challenge(Head silent) throws IOException;

  /** Notes that the leader has ended on purpose. */
  void resign(long epoch, long writer) throws IOException;

  /** Notes where clients reach the leader of an epoch, and forgets that of earlier ones. */
  void announce(long epoch, String address) throws IOException;

  /** Stores a chunk of a snapshot. */
  void putChunk(Snapshot snapshot, long number, byte[] bytes) throws IOException;

  /** A chunk; null if it is not stored. */
  byte @Nullable [] chunk(Snapshot snapshot, long number) throws IOException;

  /**
   * Makes a snapshot the newest.
   *
   * @return false if another one leads, or the newest is not older
   */
  boolean publish(Snapshot snapshot, long epoch, long writer) throws IOException;

  /** Deletes the chunks of a snapshot. */
  void deleteSnapshot(Snapshot snapshot) throws IOException;

  /** The snapshots of which there are chunks. */
  List<Snapshot> snapshots() throws IOException;

  /**
   * Moves the first frame that is kept; it never moves back.
   *
   * @return false if another one leads
   */
  boolean keepFrom(long first, long firstPosition, long epoch, long writer) throws IOException;

  /** Deletes the frames from {@code from} to before {@code to}. */
  void deleteFrames(long from, long to) throws IOException;

  /** Deletes all frames and chunks, of the store that a restore replaces. */
  void clear() throws IOException;

  /**
   * Marks the store as incomplete, so that it is neither read nor led, and makes its journal one
   * without frames.
   *
   * @param head the head as it was read; a leader that has begun since prevents the restore, and
   *     one that has read it too cannot begin any more
   * @param upload the random number of the restore
   * @param journalId the identity of the new journal
   * @return whether the head was {@code head}
   */
  boolean beginRestore(Head head, long upload, long journalId) throws IOException;

  /**
   * Ends the restore that has this number.
   *
   * @param snapshot where the journal begins; {@link Snapshot#NONE} to leave the store new
   * @param chain the frame after which it was taken; {@link Chain#START} for none
   * @return false if another restore has begun meanwhile
   */
  boolean endRestore(long upload, Snapshot snapshot, Chain chain) throws IOException;

  @Override
  void close();
}
