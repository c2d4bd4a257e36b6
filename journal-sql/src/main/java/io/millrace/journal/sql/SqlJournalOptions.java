package io.millrace.journal.sql;

import io.millrace.database.DatabaseAddress;
import io.millrace.database.DatabaseAddress.Kind;
import io.millrace.journal.shared.JournalHome;
import io.millrace.journal.shared.JournalLocation;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.Retention;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where a journal is, and how it is used.
 *
 * @param database the database
 * @param store the name of the store, since a database may hold several: 1 to 64 letters, digits,
 *     {@code -}, {@code _} and {@code .}; default {@code main}
 * @param accepted the names of settings of the database that are accepted although they may lose
 *     commits; docs/stores.md lists them. Empty by default
 * @param retention how much is kept for subscribers
 * @param lease how long a leader may answer without a sign from the database, at least 100 ms; a
 *     standby waits a tenth more. Default 1.5 s
 * @param deadline how long an append whose outcome is unknown is repeated, at least 1 s; default 30
 *     s
 */
public record SqlJournalOptions(
    DatabaseAddress database,
    String store,
    Set<String> accepted,
    Retention retention,
    Duration lease,
    Duration deadline)
    implements JournalLocation {
  /**
   * Checks the values.
   *
   * @throws JournalException if one is wrong
   */
  public SqlJournalOptions {
    accepted = Set.copyOf(accepted);
    JournalLocation.requireName(store);
    JournalLocation.requireTimes(lease, deadline);
  }

  /**
   * The defaults for an address, without a user.
   *
   * @param url a JDBC address: {@code jdbc:postgresql:…}, {@code jdbc:mariadb:…} or {@code
   *     jdbc:sqlite:FILE}
   * @throws JournalException if it is none of these, or contains a password
   */
  public static SqlJournalOptions at(String url) {
    DatabaseAddress database;
    try {
      database = new DatabaseAddress(url, null, null);
    } catch (IllegalArgumentException e) {
      throw new JournalException("the database of a store: " + e.getMessage(), e);
    }
    return new SqlJournalOptions(
        database, DEFAULT_STORE, Set.of(), Retention.DEFAULTS, DEFAULT_LEASE, DEFAULT_DEADLINE);
  }

  /** Whether an address is one of a database that is supported. */
  public static boolean isSupported(String url) {
    return Kind.of(url).isPresent();
  }

  @Override
  public JournalHome connect() {
    return new JdbcDatabase(this);
  }

  /** Whether the database is there; one in a file is created. */
  @Override
  public boolean exists() {
    return database.kind() != Kind.SQLITE || Files.exists(database.file());
  }

  /** The same options with a user and a password. */
  public SqlJournalOptions withUser(@Nullable String user, @Nullable String password) {
    return new SqlJournalOptions(
        new DatabaseAddress(database.url(), user, password),
        store,
        accepted,
        retention,
        lease,
        deadline);
  }

  /** The same options with the name of another store. */
  public SqlJournalOptions withStore(String store) {
    return new SqlJournalOptions(database, store, accepted, retention, lease, deadline);
  }

  /** The same options with other accepted settings. */
  public SqlJournalOptions withAccepted(Set<String> accepted) {
    return new SqlJournalOptions(database, store, accepted, retention, lease, deadline);
  }

  /** The same options with another retention. */
  public SqlJournalOptions withRetention(Retention retention) {
    return new SqlJournalOptions(database, store, accepted, retention, lease, deadline);
  }

  /** The same options with another lease. */
  public SqlJournalOptions withLease(Duration lease) {
    return new SqlJournalOptions(database, store, accepted, retention, lease, deadline);
  }

  /** The same options with another deadline. */
  public SqlJournalOptions withDeadline(Duration deadline) {
    return new SqlJournalOptions(database, store, accepted, retention, lease, deadline);
  }

  /** The address and the name of the store, without the password. */
  @Override
  public String toString() {
    return database.url() + " (store " + store + ")";
  }
}
