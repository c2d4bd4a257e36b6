package io.millrace.database;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/**
 * A SQL database, and the user for it.
 *
 * @param url a JDBC address: {@code jdbc:postgresql:…}, {@code jdbc:mariadb:…} or {@code
 *     jdbc:sqlite:FILE}, without a password
 * @param user the name under which to sign in; null for none
 * @param password its password; null for none
 */
public record DatabaseAddress(String url, @Nullable String user, @Nullable String password) {
  private static final Duration CONNECT = Duration.ofSeconds(10);

  /** The pause before a file of SQLite that others write to is opened again. */
  private static final Duration BUSY_PAUSE = Duration.ofMillis(10);

  /** The part of an error code of SQLite that tells its kind. */
  private static final int PRIMARY_CODE = 0xff;

  /** The databases that can be used. */
  public enum Kind {
    POSTGRESQL("jdbc:postgresql:"),
    MARIADB("jdbc:mariadb:"),
    SQLITE("jdbc:sqlite:");

    private final String prefix;

    Kind(String prefix) {
      this.prefix = prefix;
    }

    /** The kind of the database at an address; empty if it is none of these. */
    public static Optional<Kind> of(String url) {
      return Arrays.stream(values()).filter(kind -> url.startsWith(kind.prefix)).findFirst();
    }
  }

  /**
   * Checks the address.
   *
   * @throws IllegalArgumentException if it is of another kind, contains a password, or names no
   *     file
   */
  public DatabaseAddress {
    Kind kind =
        Kind.of(url)
            .orElseThrow(() ->
                new IllegalArgumentException(
                    "a database is at postgresql://HOST/DATABASE, mariadb://HOST/DATABASE or"
                        + " sqlite:FILE"));
    if (url.toLowerCase(Locale.ROOT).contains("password=")) {
      throw new IllegalArgumentException(
          "the address contains a password, which the log would show; give it apart from it");
    }
    if (kind == Kind.SQLITE && url.length() == kind.prefix.length()) {
      throw new IllegalArgumentException("the address names no file");
    }
  }

  /** A SQLite database in this file. */
  public static DatabaseAddress file(Path file) {
    return new DatabaseAddress(Kind.SQLITE.prefix + file, null, null);
  }

  public Kind kind() {
    return Kind.of(url).orElseThrow();
  }

  /** The file of a SQLite database. */
  public Path file() {
    return Path.of(url.substring(Kind.SQLITE.prefix.length()));
  }

  /**
   * How a connection behaves.
   *
   * @param name under which a server lists it, if it lists names
   * @param silence how long a server may give no answer before the connection counts as lost; zero
   *     for ever
   * @param busy how long SQLite waits for another process that writes
   * @param immediate whether each transaction of SQLite takes the right to write when it begins,
   *     rather than when it first writes
   */
  public record Behavior(String name, Duration silence, Duration busy, boolean immediate) {}

  /**
   * Opens a connection that commits each statement. The folder of a SQLite file is created; the
   * file has a write-ahead log, and each commit is durable.
   *
   * @throws SQLException if the server does not answer within 10 seconds, or refuses; of SQLite, if
   *     others write for longer than {@link Behavior#busy}, or up to twice as long if an attempt
   *     begins shortly before that and the driver waits, too
   */
  public Connection connect(Behavior behavior) throws SQLException {
    createFolder();
    Properties properties = properties(behavior);
    long endNanos = System.nanoTime() + behavior.busy().toNanos();
    while (true) {
      try {
        return DriverManager.getConnection(url, properties);
      } catch (SQLException e) {
        // SQLite does not wait by itself before it gives a file its write-ahead log.
        if (!isBusy(e) || System.nanoTime() - endNanos >= 0) {
          throw e;
        }
      }
      try {
        Thread.sleep(BUSY_PAUSE);
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
        throw new SQLException("interrupted while another process wrote to " + file());
      }
    }
  }

  private static boolean isBusy(SQLException e) {
    return e instanceof SQLiteException
        && (e.getErrorCode() & PRIMARY_CODE) == SQLiteErrorCode.SQLITE_BUSY.code;
  }

  /**
   * Opens a pool of connections of the same kind, which read what is committed. Nothing is asked of
   * the database before the first one is taken.
   *
   * @param most how many connections are open at a time; whoever needs another one, or finds no
   *     database, waits for 10 seconds
   */
  public HikariDataSource pool(Behavior behavior, int most) throws SQLException {
    createFolder();
    HikariConfig config = new HikariConfig();
    config.setPoolName(behavior.name());
    config.setJdbcUrl(url);
    config.setDataSourceProperties(properties(behavior));
    config.setMaximumPoolSize(most);
    config.setMinimumIdle(0);
    config.setConnectionTimeout(CONNECT.toMillis());
    config.setInitializationFailTimeout(-1);
    if (kind() != Kind.SQLITE) {
      config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
    }
    return new HikariDataSource(config);
  }

  private Properties properties(Behavior behavior) {
    Kind kind = kind();
    if (kind == Kind.SQLITE) {
      SQLiteConfig config = new SQLiteConfig();
      config.setJournalMode(SQLiteConfig.JournalMode.WAL);
      config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
      if (behavior.immediate()) {
        config.setTransactionMode(SQLiteConfig.TransactionMode.IMMEDIATE);
      }
      config.setBusyTimeout(Math.toIntExact(behavior.busy().toMillis()));
      return config.toProperties();
    }
    // PostgreSQL's driver counts in seconds, MariaDB's in milliseconds.
    long unit = kind == Kind.POSTGRESQL ? 1_000 : 1;
    Properties properties = new Properties();
    if (user != null) {
      properties.setProperty("user", user);
    }
    if (password != null) {
      properties.setProperty("password", password);
    }
    properties.setProperty("connectTimeout", Long.toString(CONNECT.toMillis() / unit));
    properties.setProperty("socketTimeout", Long.toString(behavior.silence().toMillis() / unit));
    if (kind == Kind.POSTGRESQL) {
      properties.setProperty("loginTimeout", Long.toString(CONNECT.toSeconds()));
      properties.setProperty("tcpKeepAlive", "true");
      properties.setProperty("ApplicationName", behavior.name());
    }
    return properties;
  }

  private void createFolder() throws SQLException {
    if (kind() == Kind.SQLITE) {
      Path file = file().toAbsolutePath();
      try {
        Files.createDirectories(file.getParent());
      } catch (IOException e) {
        throw new SQLException("the folder of " + file + " cannot be created: " + e, e);
      }
    }
  }

  /** Without the password. */
  @Override
  public String toString() {
    return url.substring("jdbc:".length()) + (user == null ? "" : " as " + user);
  }
}
