package io.millrace.journal.sql;

import io.millrace.journal.sql.Head.FrameMark;
import io.millrace.journal.sql.Head.Row;
import io.millrace.journal.sql.Head.Snapshot;
import io.millrace.store.journal.Chain;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a journal does in a database, through one connection. Each method is one transaction. If it
 * throws {@link SQLException}, the transaction may have taken place, or may still take place; the
 * next call opens a new connection. Safe for use by threads, one at a time.
 */
interface JournalDatabase extends AutoCloseable {
  /** Any number of renewals. */
  long ANY = -1;

  /** The head of the store. */
  Head head() throws SQLException;

  /**
   * Moves the head from {@code before} to the last of {@code rows} and stores them, if the head is
   * {@code before}.
   *
   * @param renewals how often its leader must have renewed the lease, for the first append of a new
   *     leader: one more renewal, and the one before still answers; {@link #ANY} for the others
   * @return whether it was
   */
  boolean append(Chain before, long renewals, Chain after, long writer, List<Row> rows)
      throws SQLException;

  /** Stored frames from {@code from}, in order, up to about {@code maxBytes}, at least one. */
  List<Row> frames(long from, int maxBytes) throws SQLException;

  /** A frame without its bytes; null if it is not stored. */
  @Nullable FrameMark mark(long sequence) throws SQLException;

  /** Notes that the leader is alive; returns false if another one leads. */
  boolean renew(long epoch, long writer) throws SQLException;

  /** Notes that the leader has ended on purpose. */
  void resign(long epoch, long writer) throws SQLException;

  /** Notes where clients reach the leader of an epoch, and forgets that of earlier ones. */
  void announce(long epoch, String address) throws SQLException;

  /** Stores a chunk of a snapshot. */
  void putChunk(Snapshot snapshot, long number, byte[] bytes) throws SQLException;

  /** A chunk; null if it is not stored. */
  byte @Nullable [] chunk(Snapshot snapshot, long number) throws SQLException;

  /**
   * Makes a snapshot the newest.
   *
   * @return false if another one leads, or the newest is not older
   */
  boolean publish(Snapshot snapshot, long epoch, long writer) throws SQLException;

  /** Deletes the chunks of a snapshot. */
  void deleteSnapshot(Snapshot snapshot) throws SQLException;

  /** The snapshots of which there are chunks. */
  List<Snapshot> snapshots() throws SQLException;

  /**
   * Moves the first frame that is kept; it never moves back.
   *
   * @return false if another one leads
   */
  boolean keepFrom(long first, long firstPosition, long epoch, long writer) throws SQLException;

  /** The oldest frame that is stored; {@link Long#MAX_VALUE} for none. */
  long oldestFrame() throws SQLException;

  /** Deletes the frames from {@code from} to before {@code to}. */
  void deleteFrames(long from, long to) throws SQLException;

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
  boolean beginRestore(Head head, long upload, long journalId) throws SQLException;

  /**
   * Ends the restore that has this number.
   *
   * @param snapshot where the journal begins; {@link Snapshot#NONE} to leave the store new
   * @param chain the frame after which it was taken; {@link Chain#START} for none
   * @return false if another restore has begun meanwhile
   */
  boolean endRestore(long upload, Snapshot snapshot, Chain chain) throws SQLException;

  @Override
  void close();
}
