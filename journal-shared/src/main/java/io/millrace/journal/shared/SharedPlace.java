package io.millrace.journal.sql;

import io.millrace.database.DatabaseAddress.Kind;
import io.millrace.journal.sql.Head.Row;
import io.millrace.journal.sql.Head.Snapshot;
import io.millrace.store.StoreException;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Chain;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.FrameCodec;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.files.JournalCheck;
import io.millrace.store.journal.files.JournalReport;
import io.millrace.store.journal.files.JournalReport.Damage;
import io.millrace.store.journal.files.SnapshotInput;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A store in a database that is read or written as a whole. A restore marks the head of the store
 * first, so that nobody reads or leads it until the restore has ended:
 *
 * <pre>
 *   new ────────────┬─> incomplete ──chunks, read back──> complete, nobody leads
 *   led by nobody ──┘        │
 *         (replaced)         └─ failure: new again, or incomplete if a store was replaced
 * </pre>
 */
final class SqlPlace implements JournalCheck.Place {
  private static final long POLL_NANOS = 50_000_000;

  private final Environment environment;
  private final SqlJournalOptions options;

  SqlPlace(Environment environment, SqlJournalOptions options) {
    this.environment = environment;
    this.options = options;
  }

  /**
   * The head.
   *
   * @throws JournalException if a restore has begun and not ended
   */
  static Head requireComplete(SqlJournalOptions options, Head head) {
    if (head.isIncomplete()) {
      throw new JournalException(
          "the store in "
              + options
              + " is incomplete: a restore or copy to it has not ended; if none is under way,"
              + " repeat it with --force");
    }
    return head;
  }

  @Override
  public String toString() {
    return options.toString();
  }

  @Override
  public JournalReport read(JournalCheck.Contents contents) {
    if (options.database().kind() == Kind.SQLITE && !Files.exists(options.database().file())) {
      throw new JournalException("there is no database " + options.database().file());
    }
    try (JdbcDatabase database = new JdbcDatabase(options, false)) {
      return new Reading(database, contents).run();
    } catch (SQLException | IOException e) {
      throw SqlJournal.failed(options, "cannot be read", e);
    }
  }

  /** One reading of everything. */
  private final class Reading {
    private final JournalDatabase database;
    private final JournalCheck.Contents contents;
    private final List<Damage> damages = new ArrayList<>();
    private long bytes;
    private long frames;
    private int snapshots;

    Reading(JournalDatabase database, JournalCheck.Contents contents) {
      this.database = database;
      this.contents = contents;
    }

    JournalReport run() throws SQLException, IOException {
      Head head = requireComplete(options, database.head());
      for (Snapshot snapshot : List.of(head.snapshot(), head.older())) {
        if (!snapshot.equals(Snapshot.NONE)) {
          read(snapshot);
        }
      }
      Chain end = frames(head);
      List<String> notices = new ArrayList<>();
      for (Snapshot each : database.snapshots()) {
        if (!each.equals(head.snapshot()) && !each.equals(head.older())) {
          notices.add(
              SqlSnapshots.name(each) + " is unfinished, or not needed any more, and is not used");
        }
      }
      return new JournalReport(
          0,
          frames,
          snapshots,
          frames == 0 ? 0 : head.first(),
          end.sequence(),
          end.position(),
          end.epoch(),
          end.timeMillis(),
          bytes,
          notices,
          damages);
    }

    private void read(Snapshot snapshot) throws IOException {
      String name = SqlSnapshots.name(snapshot);
      try {
        SnapshotInput input = SqlSnapshots.read(database, snapshot);
        Damage refused = JournalCheck.read(input, name, contents);
        if (refused != null) {
          damages.add(refused);
        }
        snapshots++;
        bytes += input.bytes();
      } catch (DamagedJournalException e) {
        damages.add(Damage.of(e));
      }
    }

    /** Reads the frames up to the head; returns the last. */
    private Chain frames(Head head) throws SQLException {
      long next = head.first();
      // The frame before the first one is not kept, so its checksum is not known.
      @Nullable Chain before = next == 1 ? Chain.START : null;
      while (next <= head.chain().sequence()) {
        List<Row> rows = database.frames(next, SqlJournal.READ_BYTES);
        if (rows.isEmpty()) {
          missing(next, head.chain().sequence());
          return head.chain();
        }
        for (Row row : rows) {
          if (row.sequence() > head.chain().sequence()) {
            break;
          }
          if (next < row.sequence()) {
            missing(next, row.sequence() - 1);
            before = null;
            next = row.sequence();
          }
          before = frame(row, head, before);
          next++;
        }
      }
      if (before != null && !before.equals(head.chain()) && frames > 0) {
        damages.add(
            new Damage(
                SqlJournal.place(before.sequence()),
                0,
                "it is not the frame that the head of the store names"));
      }
      return head.chain();
    }

    private void missing(long first, long last) {
      String what =
          first == last
              ? "the frame is missing"
              : "this frame and the %d after it are missing".formatted(last - first);
      damages.add(new Damage(SqlJournal.place(first), 0, what));
    }

    /** Checks a frame and passes it on; returns the chain after it, null if it is damaged. */
    private @Nullable Chain frame(Row row, Head head, @Nullable Chain before) {
      String name = SqlJournal.place(row.sequence());
      ByteBuffer stored = row.frame().duplicate();
      bytes += stored.remaining();
      try {
        Frame frame = FrameCodec.decode(stored, head.journalId(), name, before);
        if (frame.sequence() != row.sequence()
            || frame.position() != row.position()
            || frame.timeMillis() != row.timeMillis()) {
          throw new DamagedJournalException(name, 0, "its row is that of another frame");
        }
        frames++;
        Chain after = Chain.START.after(frame, FrameCodec.checksum(stored, 0));
        try {
          contents.frame(frame);
        } catch (StoreException e) {
          damages.add(new Damage(name, 0, String.valueOf(e.getMessage())));
        }
        return after;
      } catch (DamagedJournalException e) {
        damages.add(Damage.of(e));
        return null;
      }
    }
  }

  @Override
  public void restore(InputStream snapshot, boolean replace) {
    RandomGenerator random = environment.newRandom();
    try (JdbcDatabase database = new JdbcDatabase(options, false)) {
      database.prepare(random);
      Head head = database.head();
      if (!head.isNew()) {
        if (!replace) {
          throw new JournalException(
              "there is a store in "
                  + options
                  + " already"
                  + (head.isIncomplete() ? ", which is not complete" : ""));
        }
        head = awaitNoLeader(database, head);
      }
      long upload = random.nextLong();
      if (!database.beginRestore(head, upload, random.nextLong())) {
        throw ledMeanwhile();
      }
      boolean ended = false;
      try {
        clear(database);
        write(database, snapshot, upload, head.chain().epoch());
        ended = true;
      } finally {
        if (!ended && head.isNew()) {
          database.endRestore(upload, Snapshot.NONE, Chain.START);
        }
      }
    } catch (SQLException | IOException e) {
      throw SqlJournal.failed(options, "cannot be restored", e);
    }
  }

  private JournalException ledMeanwhile() {
    return new JournalException(
        "another server leads the store in " + options + ", or another copy to it was begun");
  }

  /** Waits until no leader can be alive; returns the head, which must not change any more. */
  private Head awaitNoLeader(JournalDatabase database, Head first) throws SQLException {
    if (first.resigned()) {
      return first;
    }
    long lease = options.lease().toNanos();
    long from = environment.nanos();
    while (environment.nanos() - from < lease + lease / 10) {
      LockSupport.parkNanos(POLL_NANOS);
      Head now = database.head();
      if (now.resigned() && now.snapshot().equals(first.snapshot())) {
        return now;
      }
      if (!now.equals(first)) {
        throw ledMeanwhile();
      }
    }
    return first;
  }

  private static void clear(JournalDatabase database) throws SQLException {
    for (Snapshot each : database.snapshots()) {
      database.deleteSnapshot(each);
    }
    for (long from = database.oldestFrame(); from < Long.MAX_VALUE; from = database.oldestFrame()) {
      database.deleteFrames(from, from + SqlJournal.DELETED_FRAMES);
    }
  }

  private void write(JournalDatabase database, InputStream stream, long upload, long epoch)
      throws IOException, SQLException {
    SnapshotInput input = new SnapshotInput(stream, "the snapshot");
    Frame frame = input.frame();
    SqlSnapshots.Writer writer = new SqlSnapshots.Writer(database, frame, upload, true);
    boolean whole = false;
    try {
      for (ByteBuffer part = input.next(); part != null; part = input.next()) {
        writer.part(part);
      }
      writer.finish();
      // Later than that of every leader of the store that was replaced.
      Chain chain =
          new Chain(
              frame.sequence(),
              0,
              Math.max(frame.epoch(), epoch + 1),
              frame.position(),
              frame.timeMillis());
      if (!database.endRestore(upload, writer.snapshot(), chain)) {
        throw ledMeanwhile();
      }
      whole = true;
    } finally {
      if (!whole) {
        writer.abandon();
      }
    }
  }
}
