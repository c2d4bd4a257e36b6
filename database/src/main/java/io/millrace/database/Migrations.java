package io.millrace.database;

import io.millrace.database.DatabaseAddress.Kind;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The steps from an empty database to the current tables, never changed once they are released.
 * Each may be repeated after a failure in the middle of it, so that servers that do the same at
 * once need only try again.
 *
 * @param versionTable the table that tells how many steps were done: it has a row with the number
 *     of each of the last ones
 * @param types what stands for the words in braces in the statements, for example {@code {name}};
 *     besides {@code {number}}, {@code {bytes}}, and {@code {options}} at the end of a table
 * @param steps the statements of each step
 */
public record Migrations(
    String versionTable, Map<Kind, Map<String, String>> types, List<List<String>> steps) {
  private static final Map<Kind, Map<String, String>> COMMON =
      Map.of(
          Kind.POSTGRESQL, Map.of("number", "BIGINT", "bytes", "BYTEA", "options", ""),
          Kind.MARIADB,
              Map.of("number", "BIGINT", "bytes", "LONGBLOB", "options", "ENGINE = InnoDB"),
          Kind.SQLITE, Map.of("number", "INTEGER", "bytes", "BLOB", "options", ""));

  private static final int ATTEMPTS = 5;

  /**
   * Does the steps that are missing. Tries again if another server is about it.
   *
   * @param connection has changed nothing in a transaction under way
   * @throws SQLException if the tables are of a newer version than this program knows
   */
  public void apply(Connection connection, Kind kind) throws SQLException {
    int version = -1;
    for (int attempt = 1; version < 0; attempt++) {
      try {
        version = upgrade(connection, kind);
      } catch (SQLException e) {
        // Of two servers that create the same table at once, one fails.
        if (attempt == ATTEMPTS) {
          throw e;
        }
        if (!connection.getAutoCommit()) {
          connection.rollback();
        }
      }
    }
    if (version > steps.size()) {
      throw new SQLException(
          "the tables have version %d, and this program knows versions up to %d"
              .formatted(version, steps.size()));
    }
  }

  /** Returns the version that the tables had. */
  private int upgrade(Connection connection, Kind kind) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(
          filled(
              kind,
              "CREATE TABLE IF NOT EXISTS "
                  + versionTable
                  + " (version {number} NOT NULL) {options}"));
      Integer found =
          Statements.first(
              connection, row -> row.getInt(1), "SELECT MAX(version) FROM " + versionTable);
      int version = found == null ? 0 : found;
      if (version < steps.size()) {
        for (String each :
            steps.subList(version, steps.size()).stream().flatMap(List::stream).toList()) {
          statement.execute(filled(kind, each));
        }
        statement.execute(
            "INSERT INTO %s (version) VALUES (%d)".formatted(versionTable, steps.size()));
      }
      return version;
    }
  }

  private String filled(Kind kind, String template) {
    String sql = template;
    // A word of these tables comes before one that all have.
    for (var words : List.of(types, COMMON)) {
      for (var word : Objects.requireNonNull(words.get(kind)).entrySet()) {
        sql = sql.replace("{" + word.getKey() + "}", word.getValue());
      }
    }
    return sql;
  }
}
