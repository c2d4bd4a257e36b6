package io.millrace.journal.sql;

import io.millrace.database.DatabaseAddress.Kind;
import java.util.List;

/** What the databases differ in. */
final class Dialect {
  /**
   * The steps from an empty database to the current tables, never changed once they are released.
   * Each may be repeated after a failure in the middle of it.
   */
  static final List<List<String>> MIGRATIONS =
      List.of(
          List.of(
              """
              CREATE TABLE IF NOT EXISTS millrace_journal_head (
                store {name} NOT NULL PRIMARY KEY, journal_id {number} NOT NULL, seq {number} NOT NULL,
                checksum {number} NOT NULL, epoch {number} NOT NULL, writer {number} NOT NULL,
                position {number} NOT NULL, time_millis {number} NOT NULL, total_bytes {number} NOT NULL,
                first_seq {number} NOT NULL, first_position {number} NOT NULL,
                snapshot_seq {number} NOT NULL, snapshot_upload {number} NOT NULL,
                older_seq {number} NOT NULL, older_upload {number} NOT NULL,
                renewals {number} NOT NULL, resigned {number} NOT NULL) {head}
              """,
              """
              CREATE TABLE IF NOT EXISTS millrace_journal_frames (
                store {name} NOT NULL, seq {number} NOT NULL, position {number} NOT NULL,
                time_millis {number} NOT NULL, total_bytes {number} NOT NULL, frame {bytes} NOT NULL,
                PRIMARY KEY (store, seq)) {rows}
              """,
              """
              CREATE TABLE IF NOT EXISTS millrace_journal_snapshots (
                store {name} NOT NULL, seq {number} NOT NULL, upload {number} NOT NULL,
                chunk {number} NOT NULL, content {bytes} NOT NULL,
                PRIMARY KEY (store, seq, upload, chunk)) {rows}
              """),
          List.of(
              """
              CREATE TABLE IF NOT EXISTS millrace_journal_leaders (
                store {name} NOT NULL, epoch {number} NOT NULL, address VARCHAR(1000) NOT NULL,
                PRIMARY KEY (store, epoch)) {rows}
              """));

  private Dialect() {}

  /** A statement of {@link #MIGRATIONS} as a database takes it. */
  static String ddl(Kind kind, String template) {
    return switch (kind) {
      case POSTGRESQL ->
          template
              .replace("{name}", "TEXT COLLATE \"C\"")
              .replace("{number}", "BIGINT")
              .replace("{bytes}", "BYTEA")
              // The row is updated with each append: room on its page for new versions.
              .replace("{head}", "WITH (fillfactor = 10)")
              .replace("{rows}", "");
      case MARIADB ->
          template
              .replace("{name}", "VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin")
              .replace("{number}", "BIGINT")
              .replace("{bytes}", "LONGBLOB")
              .replace("{head}", "ENGINE = InnoDB")
              .replace("{rows}", "ENGINE = InnoDB");
      case SQLITE ->
          template
              .replace("{name}", "TEXT")
              .replace("{number}", "INTEGER")
              .replace("{bytes}", "BLOB")
              .replace("{head}", "WITHOUT ROWID")
              .replace("{rows}", "");
    };
  }

  /** Inserts a row, or nothing if there is one with the key. */
  static String insertIfAbsent(Kind kind, String into) {
    return switch (kind) {
      case POSTGRESQL -> "INSERT INTO " + into + " ON CONFLICT DO NOTHING";
      case MARIADB -> "INSERT IGNORE INTO " + into;
      case SQLITE -> "INSERT OR IGNORE INTO " + into;
    };
  }
}
