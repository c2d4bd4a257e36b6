package io.millrace.journal.sql;

import static io.millrace.database.Statements.first;
import static io.millrace.database.Statements.select;
import static io.millrace.database.Statements.set;
import static io.millrace.database.Statements.update;

import io.millrace.database.DatabaseAddress.Kind;
import io.millrace.journal.shared.Head;
import io.millrace.journal.shared.Head.FrameMark;
import io.millrace.journal.shared.Head.Row;
import io.millrace.journal.shared.Head.Snapshot;
import io.millrace.journal.shared.JournalHome;
import io.millrace.journal.sql.JournalConnection.Work;
import io.millrace.store.journal.Chain;
import io.millrace.store.journal.JournalException;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The journal of a store in a database that is reached through JDBC. Each method is one
 * transaction.
 */
final class JdbcDatabase implements JournalHome {
  /** How many frames are deleted at a time. */
  private static final int CLEARED_FRAMES = 1_000;

  /** The most frames of one answer. */
  private static final int MOST_ROWS = 1_000;

  private static final String COLUMNS =
      "journal_id, seq, checksum, epoch, writer, position, time_millis, total_bytes, first_seq,"
          + " first_position, snapshot_seq, snapshot_upload, older_seq, older_upload, renewals,"
          + " resigned";

  private static final String MOVE =
      "UPDATE millrace_journal_head SET seq = ?, checksum = ?, epoch = ?, writer = ?, position = ?,"
          + " time_millis = ?, total_bytes = ?, resigned = 0"
          + " WHERE store = ? AND seq = ? AND checksum = ? AND epoch = ?";

  private final SqlJournalOptions options;
  private final Kind kind;
  private final JournalConnection connection;

  /** A connection that is opened when it is first used. */
  JdbcDatabase(SqlJournalOptions options) {
    this.options = options;
    this.kind = options.database().kind();
    this.connection = new JournalConnection(options);
  }

  private <T extends @Nullable Object> T run(Work<T> work) throws IOException {
    return connection.run(work);
  }

  @Override
  public void prepare(RandomGenerator random) throws IOException {
    run(open -> {
      Dialect.MIGRATIONS.apply(open, kind);
      return null;
    });
    check();
    String sql =
        Dialect.insertIfAbsent(
            kind,
            "millrace_journal_head (store, "
                + COLUMNS
                + ") VALUES (?, ?, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1)");
    run(open -> update(open, sql, options.store(), random.nextLong()));
  }

  @Override
  public void check() throws IOException {
    run(open -> {
      new SettingsCheck(options).require(open);
      return null;
    });
  }

  @Override
  public Head head() throws IOException {
    String sql =
        "SELECT "
            + COLUMNS
            + ", (SELECT address FROM millrace_journal_leaders l"
            + " WHERE l.store = h.store AND l.epoch = h.epoch)"
            + " FROM millrace_journal_head h WHERE store = ?";
    Head head = run(open -> first(open, JdbcDatabase::readHead, sql, options.store()));
    if (head == null) {
      throw new JournalException("the row of " + options + " is gone");
    }
    return head;
  }

  private static Head readHead(ResultSet row) throws SQLException {
    return new Head(
        row.getLong(1),
        new Chain(
            row.getLong(2), (int) row.getLong(3), row.getLong(4), row.getLong(6), row.getLong(7)),
        row.getLong(5),
        row.getLong(8),
        row.getLong(9),
        row.getLong(10),
        new Snapshot(row.getLong(11), row.getLong(12)),
        new Snapshot(row.getLong(13), row.getLong(14)),
        row.getLong(15),
        row.getLong(16) != 0,
        row.getString(17));
  }

  @Override
  public boolean append(Chain before, long renewals, Chain after, long writer, List<Row> rows)
      throws IOException {
    List<Object> values =
        new ArrayList<>(
            List.of(
                after.sequence(),
                after.checksum(),
                after.epoch(),
                writer,
                after.position(),
                after.timeMillis(),
                rows.getLast().totalBytes(),
                options.store(),
                before.sequence(),
                before.checksum(),
                before.epoch()));
    if (renewals != ANY) {
      values.add(renewals);
    }
    Update move = new Update(renewals == ANY ? MOVE : MOVE + " AND renewals = ?", values);
    return run(open ->
        kind == Kind.POSTGRESQL
            ? appendAtOnce(open, move, rows)
            : appendInTwoSteps(open, move, rows));
  }

  /** A statement and the values in it. */
  private record Update(String sql, List<Object> values) {}

  /** One statement, which commits by itself: one round trip. */
  private static boolean appendAtOnce(Connection open, Update move, List<Row> rows)
      throws SQLException {
    StringBuilder sql =
        new StringBuilder("WITH moved AS (")
            .append(move.sql())
            .append(" RETURNING store) INSERT INTO millrace_journal_frames")
            .append(" (store, seq, position, time_millis, total_bytes, frame)")
            .append(" SELECT moved.store, v.seq, v.position, v.time_millis, v.total_bytes, v.frame")
            .append(" FROM moved, (VALUES ");
    for (int i = 0; i < rows.size(); i++) {
      sql.append(i == 0 ? "" : ", ")
          .append("(?::bigint, ?::bigint, ?::bigint, ?::bigint, ?::bytea)");
    }
    sql.append(") AS v (seq, position, time_millis, total_bytes, frame)");
    try (PreparedStatement statement = open.prepareStatement(sql.toString())) {
      int at = set(statement, 1, move.values().toArray());
      for (Row row : rows) {
        at =
            set(
                statement,
                at,
                row.sequence(),
                row.position(),
                row.timeMillis(),
                row.totalBytes(),
                row.frame().array());
      }
      int stored = statement.executeUpdate();
      SQLWarning warning = statement.getWarnings();
      if (warning != null) {
        // For example a wait for a standby that was cancelled: the commit is on this server only.
        throw new SQLException("the database warned at a commit: " + warning.getMessage(), warning);
      }
      return stored == rows.size();
    }
  }

  private boolean appendInTwoSteps(Connection open, Update move, List<Row> rows)
      throws SQLException {
    // MariaDB stays so, since each change of it is a round trip; whoever runs this commits.
    open.setAutoCommit(false);
    boolean moved = store(open, move, rows);
    if (kind == Kind.SQLITE) {
      // Commits. The driver would begin the next transaction at a commit, and keep the lock.
      open.setAutoCommit(true);
    }
    return moved;
  }

  private boolean store(Connection open, Update move, List<Row> rows) throws SQLException {
    if (update(open, move.sql(), move.values().toArray()) != 1) {
      return false;
    }
    StringBuilder sql =
        new StringBuilder(
            "INSERT INTO millrace_journal_frames (store, seq, position, time_millis, total_bytes,"
                + " frame) VALUES ");
    for (int i = 0; i < rows.size(); i++) {
      sql.append(i == 0 ? "" : ", ").append("(?, ?, ?, ?, ?, ?)");
    }
    try (PreparedStatement insert = open.prepareStatement(sql.toString())) {
      int at = 1;
      for (Row row : rows) {
        at =
            set(
                insert,
                at,
                options.store(),
                row.sequence(),
                row.position(),
                row.timeMillis(),
                row.totalBytes(),
                row.frame().array());
      }
      insert.executeUpdate();
    }
    return true;
  }

  @Override
  public List<Row> frames(long from, int maxBytes) throws IOException {
    FrameMark first = mark(from);
    if (first == null) {
      return List.of();
    }
    // Not more than are asked for: a driver may read the whole answer into memory.
    return run(open ->
        select(
            open,
            row ->
                new Row(
                    row.getLong(1),
                    row.getLong(2),
                    row.getLong(3),
                    row.getLong(4),
                    row.getBytes(5)),
            "SELECT seq, position, time_millis, total_bytes, frame FROM millrace_journal_frames"
                + " WHERE store = ? AND seq >= ? AND seq < ? AND total_bytes <= ? ORDER BY seq",
            options.store(),
            from,
            from + MOST_ROWS,
            first.totalBytes() + maxBytes));
  }

  @Override
  public @Nullable FrameMark mark(long sequence) throws IOException {
    return run(open ->
        first(
            open,
            row -> new FrameMark(row.getLong(1), row.getLong(2), row.getLong(3)),
            "SELECT position, time_millis, total_bytes FROM millrace_journal_frames"
                + " WHERE store = ? AND seq = ?",
            options.store(),
            sequence));
  }

  @Override
  public boolean renew(long epoch, long writer) throws IOException {
    String sql =
        "UPDATE millrace_journal_head SET renewals = renewals + 1"
            + " WHERE store = ? AND epoch = ? AND writer = ?";
    return run(open -> update(open, sql, options.store(), epoch, writer)) == 1;
  }

  @Override
  public void challenge(Head silent) {
    // A renewal and the first append of a new leader change the same row.
  }

  @Override
  public void resign(long epoch, long writer) throws IOException {
    String sql =
        "UPDATE millrace_journal_head SET resigned = 1"
            + " WHERE store = ? AND epoch = ? AND writer = ?";
    run(open -> update(open, sql, options.store(), epoch, writer));
  }

  @Override
  public void announce(long epoch, String address) throws IOException {
    String insert =
        Dialect.insertIfAbsent(
            kind, "millrace_journal_leaders (store, epoch, address) VALUES (?, ?, ?)");
    String delete = "DELETE FROM millrace_journal_leaders WHERE store = ? AND epoch < ?";
    run(open -> update(open, insert, options.store(), epoch, address));
    run(open -> update(open, delete, options.store(), epoch));
  }

  @Override
  public void putChunk(Snapshot snapshot, long number, byte[] bytes) throws IOException {
    String sql =
        "INSERT INTO millrace_journal_snapshots (store, seq, upload, chunk, content)"
            + " VALUES (?, ?, ?, ?, ?)";
    run(open ->
        update(open, sql, options.store(), snapshot.sequence(), snapshot.upload(), number, bytes));
  }

  @Override
  public byte @Nullable [] chunk(Snapshot snapshot, long number) throws IOException {
    return run(open ->
        first(
            open,
            row -> row.getBytes(1),
            "SELECT content FROM millrace_journal_snapshots"
                + " WHERE store = ? AND seq = ? AND upload = ? AND chunk = ?",
            options.store(),
            snapshot.sequence(),
            snapshot.upload(),
            number));
  }

  @Override
  public boolean publish(Snapshot snapshot, long epoch, long writer) throws IOException {
    // In this order: MariaDB assigns from left to right.
    String sql =
        "UPDATE millrace_journal_head SET older_seq = snapshot_seq, older_upload = snapshot_upload,"
            + " snapshot_seq = ?, snapshot_upload = ?"
            + " WHERE store = ? AND epoch = ? AND writer = ? AND snapshot_seq < ?";
    return run(open ->
        update(
            open,
            sql,
            snapshot.sequence(),
            snapshot.upload(),
            options.store(),
            epoch,
            writer,
            snapshot.sequence()))
        == 1;
  }

  @Override
  public void deleteSnapshot(Snapshot snapshot) throws IOException {
    String sql =
        "DELETE FROM millrace_journal_snapshots WHERE store = ? AND seq = ? AND upload = ?";
    run(open -> update(open, sql, options.store(), snapshot.sequence(), snapshot.upload()));
  }

  @Override
  public List<Snapshot> snapshots() throws IOException {
    return run(open ->
        select(
            open,
            row -> new Snapshot(row.getLong(1), row.getLong(2)),
            "SELECT DISTINCT seq, upload FROM millrace_journal_snapshots WHERE store = ?",
            options.store()));
  }

  @Override
  public boolean keepFrom(long first, long firstPosition, long epoch, long writer)
      throws IOException {
    String sql =
        "UPDATE millrace_journal_head SET first_seq = ?, first_position = ?"
            + " WHERE store = ? AND epoch = ? AND writer = ? AND first_seq < ?";
    return run(
            open -> update(open, sql, first, firstPosition, options.store(), epoch, writer, first))
        == 1;
  }

  @Override
  public void deleteFrames(long from, long to) throws IOException {
    String sql = "DELETE FROM millrace_journal_frames WHERE store = ? AND seq >= ? AND seq < ?";
    run(open -> update(open, sql, options.store(), from, to));
  }

  @Override
  public void clear() throws IOException {
    for (Snapshot each : snapshots()) {
      deleteSnapshot(each);
    }
    for (long from = oldestFrame(); from < Long.MAX_VALUE; from = oldestFrame()) {
      deleteFrames(from, from + CLEARED_FRAMES);
    }
  }

  /** The oldest frame that is stored; {@link Long#MAX_VALUE} for none. */
  private long oldestFrame() throws IOException {
    Long oldest =
        run(open ->
            first(
                open,
                row -> row.getLong(1),
                "SELECT MIN(seq) FROM millrace_journal_frames WHERE store = ?",
                options.store()));
    return oldest == null || oldest == 0 ? Long.MAX_VALUE : oldest;
  }

  @Override
  public boolean beginRestore(Head head, long upload, long journalId) throws IOException {
    // One more renewal: a new leader that has read this head is refused at its first append.
    String sql =
        "UPDATE millrace_journal_head SET journal_id = ?, seq = 0, checksum = 0, writer = ?,"
            + " position = 0, time_millis = 0, total_bytes = 0, first_seq = 1, first_position = 0,"
            + " snapshot_seq = ?, snapshot_upload = ?, older_seq = 0, older_upload = 0,"
            + " renewals = renewals + 1, resigned = 0"
            + " WHERE store = ? AND seq = ? AND checksum = ? AND epoch = ? AND writer = ?"
            + " AND renewals = ? AND snapshot_seq = ? AND snapshot_upload = ?";
    Snapshot unfinished = Snapshot.unfinished(upload);
    return run(open ->
        update(
            open,
            sql,
            journalId,
            upload,
            unfinished.sequence(),
            unfinished.upload(),
            options.store(),
            head.chain().sequence(),
            head.chain().checksum(),
            head.chain().epoch(),
            head.writer(),
            head.renewals(),
            head.snapshot().sequence(),
            head.snapshot().upload()))
        == 1;
  }

  @Override
  public boolean endRestore(long upload, Snapshot snapshot, Chain chain) throws IOException {
    Snapshot unfinished = Snapshot.unfinished(upload);
    String sql =
        "UPDATE millrace_journal_head SET seq = ?, checksum = ?, epoch = ?, position = ?,"
            + " time_millis = ?, first_seq = ?, first_position = ?, snapshot_seq = ?,"
            + " snapshot_upload = ?, resigned = 1"
            + " WHERE store = ? AND snapshot_seq = ? AND snapshot_upload = ?";
    return run(open ->
        update(
            open,
            sql,
            chain.sequence(),
            chain.checksum(),
            chain.epoch(),
            chain.position(),
            chain.timeMillis(),
            chain.sequence() + 1,
            chain.position(),
            snapshot.sequence(),
            snapshot.upload(),
            options.store(),
            unfinished.sequence(),
            unfinished.upload()))
        == 1;
  }

  @Override
  public void close() {
    connection.close();
  }
}
