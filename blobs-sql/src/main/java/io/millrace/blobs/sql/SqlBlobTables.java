package io.millrace.blobs.sql;

import static io.millrace.database.Statements.first;
import static io.millrace.database.Statements.select;
import static io.millrace.database.Statements.update;

import com.zaxxer.hikari.HikariDataSource;
import io.millrace.blobs.Blob;
import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.BlobTables;
import io.millrace.blobs.DatabaseBlobStore;
import io.millrace.database.DatabaseAddress;
import io.millrace.database.DatabaseAddress.Behavior;
import io.millrace.database.DatabaseAddress.Kind;
import io.millrace.database.Migrations;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Blobs in PostgreSQL, MariaDB or SQLite. A database has those of several stores, by name. */
public final class SqlBlobTables implements BlobTables {
  /**
   * The tables. The state of a content is 0 while it grows, 1 when it is complete or a name was
   * taken from it, 2 while it is removed, and 3 when it was found to have a name some time after
   * that.
   */
  private static final Migrations MIGRATIONS =
      new Migrations(
          "millrace_blob_version",
          Map.of(
              Kind.POSTGRESQL,
              Map.of("name", "TEXT COLLATE \"C\"", "blob", "TEXT COLLATE \"C\""),
              Kind.MARIADB,
              Map.of(
                  "name",
                  "VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin",
                  "blob",
                  "VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin"),
              Kind.SQLITE,
              Map.of("name", "TEXT", "blob", "TEXT")),
          List.of(
              List.of(
                  """
                  CREATE TABLE IF NOT EXISTS millrace_blobs (
                    store {name} NOT NULL, name {blob} NOT NULL, content {name} NOT NULL,
                    size {number} NOT NULL, stored {number} NOT NULL, PRIMARY KEY (store, name)) {options}
                  """,
                  "CREATE INDEX IF NOT EXISTS millrace_blobs_content ON millrace_blobs (content)",
                  """
                  CREATE TABLE IF NOT EXISTS millrace_blob_contents (
                    content {name} NOT NULL PRIMARY KEY, store {name} NOT NULL, state {number} NOT NULL,
                    touched {number} NOT NULL) {options}
                  """,
                  "CREATE INDEX IF NOT EXISTS millrace_blob_contents_touched ON"
                      + " millrace_blob_contents (store, state, touched)",
                  """
                  CREATE TABLE IF NOT EXISTS millrace_blob_chunks (
                    content {name} NOT NULL, number {number} NOT NULL, bytes {bytes} NOT NULL,
                    PRIMARY KEY (content, number)) {options}
                  """)));

  private static final String NAMED =
      "EXISTS (SELECT 1 FROM millrace_blobs WHERE millrace_blobs.content ="
          + " millrace_blob_contents.content)";

  private static final Behavior BEHAVIOR =
      new Behavior("millrace blobs", Duration.ofMinutes(1), Duration.ofSeconds(30), true);
  private static final int CONNECTIONS = 8;
  private static final int REMOVED_AT_ONCE = 100;
  private static final int CHUNKS_AT_ONCE = 64;
  private static final int MOST_ATTEMPTS = 10;

  /** How the code of an error begins if two transactions wait for each other. */
  private static final String UNDONE = "40";

  private final DatabaseAddress address;
  private final String store;
  private final HikariDataSource pool;
  private volatile boolean migrated;

  private SqlBlobTables(DatabaseAddress address, String store) {
    this.address = address;
    this.store = store;
    try {
      this.pool = address.pool(BEHAVIOR, CONNECTIONS);
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  /**
   * Opens the blobs of a store. Nothing is asked of the database yet.
   *
   * @param store the name of the store: up to 64 ASCII characters
   * @throws BlobException if the folder of a SQLite file cannot be created
   */
  public static BlobStore open(DatabaseAddress address, String store) {
    return open(address, store, InstantSource.system());
  }

  static BlobStore open(DatabaseAddress address, String store, InstantSource clock) {
    return new DatabaseBlobStore(new SqlBlobTables(address, store), clock);
  }

  /**
   * Checks that the database can be used, and creates the tables that are missing.
   *
   * @throws BlobException if not; the message says what is wrong
   */
  public static void check(DatabaseAddress address, String store) {
    try (SqlBlobTables tables = new SqlBlobTables(address, store)) {
      // Not through the pool, which would try for a while.
      try (Connection connection = address.connect(BEHAVIOR)) {
        tables.migrate(connection);
      } catch (SQLException e) {
        throw tables.failed(e);
      }
    }
  }

  private BlobException failed(SQLException e) {
    // The pool says only that it has waited.
    Throwable cause = e instanceof SQLTransientConnectionException ? e.getCause() : null;
    Throwable why = cause == null ? e : cause;
    return new BlobException("blobs in " + address + ": " + why.getMessage(), e);
  }

  // ---- connections

  /** What is done with a connection that commits each statement. */
  private interface Work<T extends @Nullable Object> {
    T with(Connection connection) throws SQLException;
  }

  private <T extends @Nullable Object> T run(Work<T> work) {
    try (Connection connection = pool.getConnection()) {
      migrate(connection);
      return work.with(connection);
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  /** Does something in one transaction, again if the database has undone it for another one. */
  private <T extends @Nullable Object> T change(Work<T> work) {
    for (int attempt = 1; ; attempt++) {
      try {
        return changeOnce(work);
      } catch (BlobException e) {
        boolean undone =
            e.getCause() instanceof SQLException cause
                && String.valueOf(cause.getSQLState()).startsWith(UNDONE);
        if (!undone || attempt == MOST_ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private <T extends @Nullable Object> T changeOnce(Work<T> work) {
    return run(connection -> {
      connection.setAutoCommit(false);
      boolean done = false;
      try {
        T result = work.with(connection);
        connection.commit();
        done = true;
        return result;
      } finally {
        if (!done) {
          connection.rollback();
        }
      }
    });
  }

  private void migrate(Connection connection) throws SQLException {
    if (migrated) {
      return;
    }
    synchronized (this) {
      if (migrated) {
        return;
      }
      MIGRATIONS.apply(connection, address.kind());
      migrated = true;
    }
  }

  // ---- contents

  @Override
  public void append(String content, int number, byte[] bytes, int length, Instant now) {
    change(connection -> add(connection, content, number, bytes, length, now));
  }

  private @Nullable Void add(
      Connection connection, String content, int number, byte[] bytes, int length, Instant now)
      throws SQLException {
    if (number == 0) {
      var _ =
          update(
              connection,
              "INSERT INTO millrace_blob_contents (content, store, state, touched)"
                  + " VALUES (?, ?, 0, ?)",
              content,
              store,
              now);
    } else {
      set(connection, content, 0, now);
    }
    if (length > 0) {
      var _ =
          update(
              connection,
              "INSERT INTO millrace_blob_chunks (content, number, bytes) VALUES (?, ?, ?)",
              content,
              number,
              length == bytes.length ? bytes : Arrays.copyOf(bytes, length));
    }
    return null;
  }

  /** Sets the state of a content that grows. */
  private static void set(Connection connection, String content, int state, Instant now)
      throws SQLException {
    int there =
        update(
            connection,
            "UPDATE millrace_blob_contents SET state = ?, touched = ? WHERE content = ? AND state ="
                + " 0",
            state,
            now,
            content);
    if (there == 0) {
      throw new BlobException(
          "the blob was not continued for a day, and what there was is removed");
    }
  }

  @Override
  public void complete(
      String name, Content content, int number, byte[] bytes, int length, Instant now) {
    change(connection -> {
      if (number == 0 || length > 0) {
        var _ = add(connection, content.id(), number, bytes, length, now);
      }
      set(connection, content.id(), 1, now);
      refer(connection, name, content, now);
      return null;
    });
  }

  private void refer(Connection connection, String name, Content content, Instant now)
      throws SQLException {
    Content before = find(connection, name);
    String values =
        "INSERT INTO millrace_blobs (store, name, content, size, stored) VALUES (?, ?, ?, ?, ?)";
    String replace =
        address.kind() == Kind.MARIADB
            ? " ON DUPLICATE KEY UPDATE content = VALUES(content), size = VALUES(size), stored ="
                + " VALUES(stored)"
            : " ON CONFLICT (store, name) DO UPDATE SET content = excluded.content, size ="
                + " excluded.size, stored = excluded.stored";
    var _ = update(connection, values + replace, store, name, content.id(), content.size(), now);
    if (before != null) {
      var _ = touch(connection, before, now);
    }
  }

  /** Keeps a complete content for another while; returns 0 if it is being removed. */
  private static int touch(Connection connection, Content content, Instant now)
      throws SQLException {
    return update(
        connection,
        "UPDATE millrace_blob_contents SET state = 1, touched = ? WHERE content = ? AND state IN"
            + " (1, 3)",
        now,
        content.id());
  }

  private @Nullable Content find(Connection connection, String name) throws SQLException {
    return first(
        connection,
        row -> new Content(row.getString(1), row.getLong(2)),
        "SELECT content, size FROM millrace_blobs WHERE store = ? AND name = ?",
        store,
        name);
  }

  @Override
  public Optional<Content> find(String name) {
    return Optional.ofNullable(this.<@Nullable Content>run(connection -> find(connection, name)));
  }

  @Override
  public byte @Nullable [] chunk(String content, int number) {
    return this.<byte @Nullable []>run(connection ->
        first(
            connection,
            row -> Objects.requireNonNull(row.getBytes(1)),
            "SELECT bytes FROM millrace_blob_chunks WHERE content = ? AND number = ?",
            content,
            number));
  }

  // ---- names

  @Override
  public boolean link(String from, String to, Instant now) {
    Boolean linked = null;
    while (linked == null) {
      linked =
          this.<@Nullable Boolean>change(connection -> {
            Content content = find(connection, from);
            if (content == null) {
              return false;
            }
            // From here on nobody can remove it; somebody may have done so since it was found.
            if (touch(connection, content, now) == 0) {
              return null;
            }
            refer(connection, to, content, now);
            return true;
          });
    }
    return linked;
  }

  @Override
  public boolean delete(String name, Instant now) {
    return change(connection -> {
      Content content = find(connection, name);
      if (content == null) {
        return false;
      }
      var _ = touch(connection, content, now);
      return update(
              connection, "DELETE FROM millrace_blobs WHERE store = ? AND name = ?", store, name)
          > 0;
    });
  }

  @Override
  public List<Blob> list(String prefix, String after, int most) {
    return run(connection ->
        select(
            connection,
            row -> new Blob(row.getString(1), row.getLong(2), Instant.ofEpochMilli(row.getLong(3))),
            // '~' comes after everything that a name may have.
            "SELECT name, size, stored FROM millrace_blobs WHERE store = ? AND name >= ? AND name <"
                + " ? AND name > ? ORDER BY name LIMIT "
                + most,
            store,
            prefix,
            prefix + "~",
            after));
  }

  // ---- what nothing refers to

  @Override
  public boolean remove(Instant released, Instant abandoned) {
    String due = "((state = 1 AND touched < ?) OR (state = 0 AND touched < ?) OR state = 2)";
    List<String> contents =
        run(connection ->
            select(
                connection,
                row -> row.getString(1),
                "SELECT content FROM millrace_blob_contents WHERE store = ? AND "
                    + due
                    + " LIMIT "
                    + REMOVED_AT_ONCE,
                store,
                released,
                abandoned));
    for (String content : contents) {
      String set = "UPDATE millrace_blob_contents SET state = %d WHERE content = ? AND %s AND ";
      // From then on no put continues it, and no name is given to it.
      int unnamed =
          run(connection ->
              update(
                  connection,
                  set.formatted(2, due) + "NOT " + NAMED,
                  content,
                  released,
                  abandoned));
      if (unnamed > 0) {
        removeChunks(content);
      } else {
        var _ =
            run(connection ->
                update(connection, set.formatted(3, due) + NAMED, content, released, abandoned));
      }
    }
    return contents.size() == REMOVED_AT_ONCE;
  }

  private void removeChunks(String content) {
    List<Long> last =
        run(connection ->
            select(
                connection,
                row -> row.getLong(1),
                "SELECT COALESCE(MAX(number), -1) FROM millrace_blob_chunks WHERE content = ?",
                content));
    for (long from = 0; from <= last.getFirst(); from += CHUNKS_AT_ONCE) {
      long first = from;
      run(connection ->
          update(
              connection,
              "DELETE FROM millrace_blob_chunks WHERE content = ? AND number >= ? AND number < ?",
              content,
              first,
              first + CHUNKS_AT_ONCE));
    }
    run(connection ->
        update(connection, "DELETE FROM millrace_blob_contents WHERE content = ?", content));
  }

  @Override
  public void close() {
    pool.close();
  }
}
