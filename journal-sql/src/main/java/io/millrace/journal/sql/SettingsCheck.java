package io.millrace.journal.sql;

import io.millrace.store.journal.JournalException;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks that a database keeps what it has committed. Each finding has a name; findings that the
 * options accept are logged, and the others prevent the start.
 */
final class SettingsCheck {
  private static final Logger LOG = LoggerFactory.getLogger(JdbcDatabase.class);

  /** The oldest SQLite without a corruption at the reset of the WAL. */
  private static final String OLDEST_SQLITE = "3.51.3";

  /** The least that a packet of MariaDB must hold: a batch of frames, in bytes. */
  private static final long LEAST_PACKET = 9 << 20;

  private static final Set<String> NETWORK_FILE_SYSTEMS =
      Set.of("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre");

  private record Finding(String name, String what) {}

  private final SqlJournalOptions options;
  private final List<Finding> findings = new ArrayList<>();

  SettingsCheck(SqlJournalOptions options) {
    this.options = options;
  }

  /**
   * Checks the database of a connection.
   *
   * @throws JournalException if there is a finding that is not accepted, with all of them
   */
  void require(Connection connection) throws SQLException {
    switch (options.database().kind()) {
      case POSTGRESQL -> checkPostgresql(connection);
      case MARIADB -> checkMariadb(connection);
      case SQLITE -> checkSqlite(connection);
    }
    List<Finding> refused = new ArrayList<>();
    for (Finding finding : findings) {
      if (options.accepted().contains(finding.name())) {
        LOG.warn("{}: {}; accepted as {}", options, finding.what(), finding.name());
      } else {
        refused.add(finding);
      }
    }
    if (!refused.isEmpty()) {
      StringBuilder message = new StringBuilder(options + " may lose commits: ");
      for (Finding finding : refused) {
        message.append(finding.what()).append(" (").append(finding.name()).append("); ");
      }
      message.append("change that, or accept it by name");
      throw new JournalException(message.toString());
    }
  }

  private void finding(String name, String what) {
    findings.add(new Finding(name, what));
  }

  private static @Nullable String value(Connection connection, String sql, int column)
      throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet found = statement.executeQuery(sql)) {
      return found.next() ? found.getString(column) : null;
    }
  }

  private void checkPostgresql(Connection connection) throws SQLException {
    if ("t".equals(value(connection, "SELECT pg_is_in_recovery()", 1))) {
      throw new JournalException(
          options + " is a standby of the database: give the address of its primary");
    }
    for (String name : List.of("fsync", "full_page_writes")) {
      if (!"on".equals(value(connection, "SHOW " + name, 1))) {
        finding(name, name + " is off");
      }
    }
    String commit = value(connection, "SHOW synchronous_commit", 1);
    if (!"on".equals(commit) && !"remote_apply".equals(commit)) {
      finding("synchronous_commit", "synchronous_commit is " + commit + ", weaker than on");
    }
  }

  private void checkMariadb(Connection connection) throws SQLException {
    if ("ON".equals(variable(connection, "wsrep_on"))) {
      throw new JournalException(
          options + " is a Galera cluster, which loses commits that it has acknowledged");
    }
    if (!isOff(variable(connection, "read_only"))) {
      throw new JournalException(
          options + " is read-only, as a replica is: give the address of its primary");
    }
    String engine =
        value(
            connection,
            "SELECT GROUP_CONCAT(DISTINCT engine) FROM information_schema.tables WHERE"
                + " table_schema = DATABASE() AND table_name LIKE 'millrace\\_journal\\_%'",
            1);
    if (!"InnoDB".equals(engine)) {
      throw new JournalException("the tables of " + options + " are of the engine " + engine);
    }
    String flush = variable(connection, "innodb_flush_log_at_trx_commit");
    if (!"1".equals(flush)) {
      finding("innodb_flush_log_at_trx_commit", "innodb_flush_log_at_trx_commit is " + flush);
    }
    String sync = variable(connection, "sync_binlog");
    if (!isOff(variable(connection, "log_bin")) && !"1".equals(sync)) {
      finding("sync_binlog", "there is a binary log, and sync_binlog is " + sync);
    }
    String mode = String.valueOf(variable(connection, "sql_mode"));
    if (!mode.contains("STRICT_TRANS_TABLES") && !mode.contains("STRICT_ALL_TABLES")) {
      finding("sql_mode", "sql_mode is not strict");
    }
    String packet = variable(connection, "max_allowed_packet");
    if (packet != null && Long.parseLong(packet) < LEAST_PACKET) {
      throw new JournalException(
          options + ": max_allowed_packet is " + packet + ", at least " + LEAST_PACKET);
    }
    if ("ON".equals(variable(connection, "rpl_semi_sync_master_enabled"))) {
      LOG.info(
          "{}: semi-synchronous replication becomes asynchronous after"
              + " rpl_semi_sync_master_timeout; a fail-over then loses commits",
          options);
    }
  }

  private static boolean isOff(@Nullable String value) {
    return value == null || value.equals("OFF") || value.equals("0");
  }

  private static @Nullable String variable(Connection connection, String name) throws SQLException {
    return value(connection, "SHOW GLOBAL VARIABLES LIKE '" + name + "'", 2);
  }

  private void checkSqlite(Connection connection) throws SQLException {
    String version = String.valueOf(value(connection, "SELECT sqlite_version()", 1));
    if (Arrays.compare(numbers(version), numbers(OLDEST_SQLITE)) < 0) {
      throw new JournalException(
          "SQLite " + version + " may damage its file; at least " + OLDEST_SQLITE + " is needed");
    }
    String mode = value(connection, "PRAGMA journal_mode", 1);
    if (!"wal".equals(mode)) {
      throw new JournalException(options + ": the journal mode is " + mode + ", not WAL");
    }
    if (!"2".equals(value(connection, "PRAGMA synchronous", 1))) {
      throw new JournalException(options + ": synchronous is not FULL");
    }
    try {
      FileStore place = Files.getFileStore(options.database().file().toAbsolutePath());
      String type = place.type().toLowerCase(Locale.ROOT);
      if (NETWORK_FILE_SYSTEMS.contains(type) || type.startsWith("fuse.")) {
        finding(
            "network_file_system",
            "the file is on a network file system (" + type + "), whose locks SQLite cannot trust");
      }
    } catch (IOException e) {
      LOG.warn("{}: the kind of its file system is unknown: {}", options, e.toString());
    }
  }

  private static int[] numbers(String version) {
    return Arrays.stream(version.split("\\.", -1)).mapToInt(Integer::parseInt).toArray();
  }
}
