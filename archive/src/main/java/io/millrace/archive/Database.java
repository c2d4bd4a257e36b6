package io.millrace.archive;

import io.millrace.archive.ArchiveException.QueryTimeoutException;
import io.millrace.database.DatabaseAddress;
import io.millrace.database.DatabaseAddress.Behavior;
import io.millrace.database.DatabaseAddress.Kind;
import io.millrace.database.Migrations;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Connections to a database, opened when they are needed, and its tables, created or brought up to
 * date by the first of them. Work is done on platform threads, one for writing and a few for
 * reading: a driver may occupy its thread for long in native code. Safe for use by threads.
 */
final class Database implements AutoCloseable {
  private static final int READERS = 3;
  private static final int MAX_WAITING = 1_000;
  private static final Duration IDLE = Duration.ofSeconds(30);
  private static final Duration BUSY = Duration.ofSeconds(30);
  private static final int CLOSE_SECONDS = 10;

  private static final Migrations MIGRATIONS =
      new Migrations(
          "archive_version",
          Map.of(
              Kind.POSTGRESQL,
              Map.of("key", "TEXT COLLATE \"C\"", "text", "TEXT COLLATE \"C\"", "json", "TEXT"),
              Kind.MARIADB,
              Map.of(
                  "key",
                  "VARCHAR(128)",
                  "text",
                  "VARCHAR(512)",
                  "json",
                  "LONGTEXT",
                  "options",
                  "ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"),
              Kind.SQLITE,
              Map.of("key", "TEXT", "text", "TEXT", "json", "TEXT")),
          List.of(
              List.of(
                  """
                  CREATE TABLE IF NOT EXISTS archived_tasks (
                    id {key} NOT NULL PRIMARY KEY, queue_id {text}, queue {text}, status {number}, node {text},
                    created {number}, finished {number} NOT NULL, archived {number} NOT NULL, document {json}) {options}
                  """,
                  "CREATE INDEX IF NOT EXISTS archived_tasks_finished ON archived_tasks (finished,"
                      + " id)",
                  "CREATE INDEX IF NOT EXISTS archived_tasks_queue ON archived_tasks (queue_id,"
                      + " finished)",
                  "CREATE INDEX IF NOT EXISTS archived_tasks_archived ON archived_tasks (archived)",
                  """
                  CREATE TABLE IF NOT EXISTS archived_jobs (
                    id {key} NOT NULL PRIMARY KEY, job_key {text}, type {text}, status {text}, priority {text},
                    batch {number}, worker {text}, submitted {number}, started {number}, finished {number} NOT NULL,
                    archived {number} NOT NULL, failures {number}, returns {number}, payload_bytes {number},
                    result_bytes {number}, payload {bytes}, result {bytes}, result_blob {text}, document {json}) {options}
                  """,
                  "CREATE INDEX IF NOT EXISTS archived_jobs_finished ON archived_jobs (finished,"
                      + " id)",
                  "CREATE INDEX IF NOT EXISTS archived_jobs_type ON archived_jobs (type, finished)",
                  "CREATE INDEX IF NOT EXISTS archived_jobs_key ON archived_jobs (job_key)",
                  "CREATE INDEX IF NOT EXISTS archived_jobs_archived ON archived_jobs (archived)"),
              List.of(
                  """
                  CREATE TABLE IF NOT EXISTS archived_graphs (
                    id {key} NOT NULL PRIMARY KEY, graph {text}, name {text}, type {text}, state {text}, reason {text},
                    attempts {number}, created {number}, started {number}, finished {number} NOT NULL,
                    archived {number} NOT NULL, parents {json}, document {json}) {options}
                  """,
                  "CREATE INDEX IF NOT EXISTS archived_graphs_finished ON archived_graphs"
                      + " (finished, id)",
                  "CREATE INDEX IF NOT EXISTS archived_graphs_graph ON archived_graphs (graph,"
                      + " finished)",
                  "CREATE INDEX IF NOT EXISTS archived_graphs_name ON archived_graphs (name,"
                      + " finished)",
                  "CREATE INDEX IF NOT EXISTS archived_graphs_archived ON archived_graphs"
                      + " (archived)")));

  private final DatabaseAddress location;
  private final Deque<Connection> idle = new ConcurrentLinkedDeque<>();
  private final ThreadPoolExecutor readers = executor("archive-read-", READERS);
  private final ThreadPoolExecutor writer = executor("archive-write-", 1);
  private final Object migrating = new Object();
  private volatile boolean migrated;

  Database(DatabaseAddress location) {
    this.location = location;
  }

  private static ThreadPoolExecutor executor(String name, int threads) {
    ThreadPoolExecutor executor =
        new ThreadPoolExecutor(
            threads,
            threads,
            IDLE.toMillis(),
            TimeUnit.MILLISECONDS,
            new LinkedBlockingQueue<>(MAX_WAITING),
            Thread.ofPlatform().daemon().name(name, 0).factory());
    executor.allowCoreThreadTimeOut(true);
    return executor;
  }

  Kind kind() {
    return location.kind();
  }

  /** What is done in one transaction. */
  @FunctionalInterface
  interface Work<T extends @Nullable Object> {
    T with(Session session) throws SQLException;
  }

  /**
   * A connection during a transaction; remembers its last statement, so that it can be cancelled.
   */
  static final class Session {
    private final Connection connection;
    private volatile @Nullable Statement last;

    private Session(Connection connection) {
      this.connection = connection;
    }

    PreparedStatement prepare(String sql) throws SQLException {
      PreparedStatement statement = connection.prepareStatement(sql);
      last = statement;
      return statement;
    }

    private void cancel() {
      Statement statement = last;
      if (statement != null) {
        try {
          statement.cancel();
        } catch (SQLException _) {
          // It has just ended.
        }
      }
    }
  }

  /**
   * Whether nothing was ever archived: the database is a file that does not exist. Saves the
   * creation of an archive for those who never use one.
   */
  boolean isAbsent() {
    return kind() == Kind.SQLITE && !migrated && Files.notExists(location.file());
  }

  /**
   * Reads in one transaction.
   *
   * @throws QueryTimeoutException if it takes longer than {@code most}
   * @throws ArchiveException if the database fails
   */
  <T extends @Nullable Object> T read(Duration most, Work<T> work) {
    return run(readers, most, work);
  }

  /** Changes the database in one transaction, which is durable at the end. */
  void write(Duration most, Work<@Nullable Void> work) {
    run(writer, most, work);
  }

  private <T extends @Nullable Object> T run(
      ThreadPoolExecutor executor, Duration most, Work<T> work) {
    Running<T> running = new Running<>(work);
    Future<T> result;
    try {
      result = executor.submit(running::call);
    } catch (RejectedExecutionException e) {
      throw new ArchiveException("the archive is closed, or too many queries wait for it", e);
    }
    try {
      return result.get(most.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException _) {
      running.cancel();
      result.cancel(false);
      throw new QueryTimeoutException(
          "the archive did not answer within %d seconds: narrow the query"
              .formatted(most.toSeconds()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      running.cancel();
      throw new ArchiveException("interrupted while the archive was used", e);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      if (cause instanceof ArchiveException known) {
        throw known;
      }
      if (cause instanceof SQLException failed) {
        throw new ArchiveException(
            "the archive at " + location + " fails: " + failed.getMessage(), failed);
      }
      throw new ArchiveException("the archive fails: " + cause, cause);
    }
  }

  /** One transaction on a thread of an executor. */
  private final class Running<T extends @Nullable Object> {
    private final Work<T> work;
    private volatile @Nullable Session session;
    private volatile boolean cancelled;

    Running(Work<T> work) {
      this.work = work;
    }

    T call() throws SQLException {
      if (cancelled) {
        throw new SQLException("cancelled");
      }
      Connection connection = idle.pollFirst();
      Connection used = connection == null ? open() : connection;
      boolean good = false;
      try {
        Session begun = new Session(used);
        session = begun;
        T result = work.with(begun);
        used.commit();
        good = true;
        return result;
      } finally {
        session = null;
        if (good && !readers.isShutdown()) {
          idle.addFirst(used);
        } else {
          close(used);
        }
      }
    }

    void cancel() {
      cancelled = true;
      Session begun = session;
      if (begun != null) {
        begun.cancel();
      }
    }
  }

  /** Closes a connection, which rolls back what it has not committed. */
  private static void close(Connection connection) {
    try {
      connection.close();
    } catch (SQLException _) {
      // The connection is gone anyway.
    }
  }

  /**
   * A connection to a database whose tables are current. Until they are, one connection is opened
   * at a time: in SQLite, a transaction that has read before another one wrote cannot write.
   */
  private Connection open() throws SQLException {
    if (!migrated) {
      synchronized (migrating) {
        if (!migrated) {
          Connection first = connect();
          boolean good = false;
          try {
            MIGRATIONS.apply(first, kind());
            first.commit();
            good = true;
          } finally {
            if (!good) {
              close(first);
            }
          }
          migrated = true;
          return first;
        }
      }
    }
    return connect();
  }

  private Connection connect() throws SQLException {
    Connection connection =
        location.connect(new Behavior("millrace archive", Duration.ZERO, BUSY, false));
    connection.setAutoCommit(false);
    return connection;
  }

  boolean isClosed() {
    return writer.isShutdown();
  }

  /** Ends what is under way, and closes all connections. */
  @Override
  public void close() {
    readers.shutdown();
    writer.shutdown();
    try {
      var _ = writer.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
      var _ = readers.awaitTermination(1, TimeUnit.SECONDS);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    for (Connection each = idle.pollFirst(); each != null; each = idle.pollFirst()) {
      close(each);
    }
  }
}
