package io.millrace.journal.sql;

import io.millrace.database.DatabaseAddress.Behavior;
import io.millrace.database.DatabaseAddress.Kind;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The one connection of a journal to its database. It is opened when it is first used, and again
 * after a failure. Thread-safe: transactions run one after the other.
 */
final class JournalConnection implements AutoCloseable {
  /** After this long without an answer, a connection counts as lost. The statement goes on. */
  private static final Duration SILENCE = Duration.ofSeconds(15);

  /** How long SQLite waits for another process that writes. */
  private static final Duration BUSY = Duration.ofSeconds(5);

  private final SqlJournalOptions options;
  private @Nullable Connection connection;
  private boolean closed;

  JournalConnection(SqlJournalOptions options) {
    this.options = options;
  }

  /** What is done in one transaction. */
  @FunctionalInterface
  interface Work<T extends @Nullable Object> {
    T with(Connection connection) throws SQLException;
  }

  /**
   * Runs a transaction, and commits it unless the connection commits by itself.
   *
   * @throws IOException if that fails, or after {@link #close}; it may have been committed
   */
  <T extends @Nullable Object> T run(Work<T> work) throws IOException {
    try {
      return transact(work);
    } catch (SQLException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  private synchronized <T extends @Nullable Object> T transact(Work<T> work) throws SQLException {
    if (closed) {
      throw new SQLException("the journal is closed");
    }
    Connection open = connection;
    if (open == null) {
      open = connect();
      connection = open;
    }
    boolean whole = false;
    try {
      T result = work.with(open);
      if (!open.getAutoCommit()) {
        open.commit();
      }
      whole = true;
      return result;
    } finally {
      if (!whole) {
        discard();
      }
    }
  }

  private void discard() {
    Connection lost = connection;
    connection = null;
    if (lost != null) {
      try {
        lost.close();
      } catch (SQLException _) {
        // It is not used any more.
      }
    }
  }

  private Connection connect() throws SQLException {
    Connection opened =
        options
            .database()
            .connect(new Behavior("millrace " + options.store(), SILENCE, BUSY, true));
    try {
      if (options.database().kind() == Kind.MARIADB) {
        opened.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      }
      return opened;
    } catch (SQLException e) {
      opened.close();
      throw e;
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    discard();
  }
}
