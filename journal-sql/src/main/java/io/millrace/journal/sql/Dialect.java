package io.millrace.journal.sql;

import io.millrace.database.DatabaseAddress.Kind;
import io.millrace.database.Migrations;
import java.util.List;
import java.util.Map;

/** What the databases differ in. */
final class Dialect {
  /** The tables. */
  static final Migrations MIGRATIONS =
      new Migrations(
          "millrace_journal_version",
          Map.of(
              // The head is updated with each append: room on its page for new versions.
              Kind.POSTGRESQL,
              Map.of("name", "TEXT COLLATE \"C\"", "head", "WITH (fillfactor = 10)"),
              Kind.MARIADB,
              Map.of(
                  "name",
                  "VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin",
                  "head",
                  "ENGINE = InnoDB"),
              Kind.SQLITE,
              Map.of("name", "TEXT", "head", "WITHOUT ROWID")),
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
                    PRIMARY KEY (store, seq)) {options}
                  """,
                  """
                  CREATE TABLE IF NOT EXISTS millrace_journal_snapshots (
                    store {name} NOT NULL, seq {number} NOT NULL, upload {number} NOT NULL,
                    chunk {number} NOT NULL, content {bytes} NOT NULL,
                    PRIMARY KEY (store, seq, upload, chunk)) {options}
                  """),
              List.of(
                  """
                  CREATE TABLE IF NOT EXISTS millrace_journal_leaders (
                    store {name} NOT NULL, epoch {number} NOT NULL, address VARCHAR(1000) NOT NULL,
                    PRIMARY KEY (store, epoch)) {options}
                  """)));

  private Dialect() {}

  /** Inserts a row, or nothing if there is one with the key. */
  static String insertIfAbsent(Kind kind, String into) {
    return switch (kind) {
      case POSTGRESQL -> "INSERT INTO " + into + " ON CONFLICT DO NOTHING";
      case MARIADB -> "INSERT IGNORE INTO " + into;
      case SQLITE -> "INSERT OR IGNORE INTO " + into;
    };
  }
}
