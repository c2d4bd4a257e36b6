package io.millrace.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Statements with values for their parameters: texts, whole numbers, bytes, and times, which are
 * kept as milliseconds since the epoch. Another value is an {@link IllegalArgumentException}.
 */
public final class Statements {
  private Statements() {}

  /** Makes something of a row. */
  @FunctionalInterface
  public interface RowReader<T> {
    T read(ResultSet row) throws SQLException;
  }

  /** Prepares a statement with these values; the caller closes it. */
  public static PreparedStatement prepare(Connection connection, String sql, Object... values)
      throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    boolean complete = false;
    try {
      var _ = set(statement, 1, values);
      complete = true;
      return statement;
    } finally {
      if (!complete) {
        statement.close();
      }
    }
  }

  /**
   * Sets parameters.
   *
   * @param from the first of them, counted from 1
   * @return the one after the last
   */
  public static int set(PreparedStatement statement, int from, Object... values)
      throws SQLException {
    int at = from;
    for (Object value : values) {
      switch (value) {
        case Long number -> statement.setLong(at, number);
        case Integer number -> statement.setLong(at, number);
        case Instant time -> statement.setLong(at, time.toEpochMilli());
        case String text -> statement.setString(at, text);
        case byte[] bytes -> statement.setBytes(at, bytes);
        default -> throw new IllegalArgumentException("a value of " + value.getClass());
      }
      at++;
    }
    return at;
  }

  /** Runs a statement that changes rows; returns how many. */
  public static int update(Connection connection, String sql, Object... values)
      throws SQLException {
    try (PreparedStatement statement = prepare(connection, sql, values)) {
      return statement.executeUpdate();
    }
  }

  /** Reads all rows that a query finds. */
  public static <T> List<T> select(
      Connection connection, RowReader<T> reader, String sql, Object... values)
      throws SQLException {
    try (PreparedStatement statement = prepare(connection, sql, values);
        ResultSet rows = statement.executeQuery()) {
      List<T> read = new ArrayList<>();
      while (rows.next()) {
        read.add(reader.read(rows));
      }
      return read;
    }
  }

  /** Reads the first row that a query finds; null if it finds none. */
  public static <T> @Nullable T first(
      Connection connection, RowReader<T> reader, String sql, Object... values)
      throws SQLException {
    List<T> found = select(connection, reader, sql, values);
    return found.isEmpty() ? null : found.getFirst();
  }
}
