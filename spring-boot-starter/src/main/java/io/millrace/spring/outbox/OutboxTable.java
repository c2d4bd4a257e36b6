package io.millrace.spring.outbox;

import io.millrace.store.Bytes;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.TransactionTemplate;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/**
 * The tables of the outbox, in PostgreSQL, MariaDB, MySQL, H2 or SQLite. {@link #insert} takes part
 * in the transaction of the caller, everything else has its own. Thread-safe.
 */
public final class OutboxTable {
  private static final JsonMapper JSON = new JsonMapper();
  private static final TypeReference<Map<String, String>> FIELDS = new TypeReference<>() {};
  private static final String OF_THESE = " AND id IN (";

  private final JdbcTemplate jdbc;
  private final TransactionTemplate transactions;

  /** The tables in the database of the application. */
  public OutboxTable(DataSource dataSource) {
    jdbc = new JdbcTemplate(dataSource);
    // Of its own, since the pool may give connections that do not commit by themselves.
    transactions = new TransactionTemplate(new JdbcTransactionManager(dataSource));
  }

  /**
   * A job to be sent.
   *
   * @param id its place in the order of submissions
   * @param sentAt when it was sent for the first time without a known outcome, in milliseconds
   *     since the epoch; null if it was not
   */
  record Row(
      long id, String type, Map<String, String> order, Bytes payload, @Nullable Long sentAt) {}

  /**
   * What the outbox holds.
   *
   * @param waiting the number of jobs to be sent
   * @param rejected the number of jobs that the server has rejected, which are not sent again
   * @param oldestMillis when the first of those that wait was submitted, since the epoch; 0 if none
   *     waits
   */
  public record Content(long waiting, long rejected, long oldestMillis) {}

  /** Adds a row in the transaction of the caller. */
  void insert(String type, Map<String, String> order, byte[] payload, long nowMillis) {
    jdbc.execute(
        (ConnectionCallback<Integer>)
            connection -> {
              if (connection.getAutoCommit()) {
                throw new IllegalTransactionStateException(
                    "the transaction is not one of the data source of the outbox");
              }
              return insert(connection, type, JSON.writeValueAsString(order), payload, nowMillis);
            });
  }

  private static int insert(
      Connection connection, String type, String order, byte[] payload, long nowMillis)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "INSERT INTO millrace_outbox (job_type, job_order, payload, created_at)"
                + " VALUES (?, ?, ?, ?)")) {
      statement.setString(1, type);
      statement.setString(2, order);
      statement.setBytes(3, payload);
      statement.setLong(4, nowMillis);
      return statement.executeUpdate();
    }
  }

  private int update(String sql, @Nullable Object... arguments) {
    Integer changed = transactions.execute(_ -> jdbc.update(sql, arguments));
    return changed == null ? 0 : changed;
  }

  /** Lets a relay send until a moment, if no other one may; also to renew. */
  boolean claim(String relay, long nowMillis, long untilMillis) {
    String sql =
        "UPDATE millrace_outbox_relay SET relay = ?, held_until = ?"
            + " WHERE id = 1 AND (relay = ? OR held_until <= ?)";
    if (update(sql, relay, untilMillis, relay, nowMillis) == 1) {
      return true;
    }
    Long rows =
        transactions.execute(
            _ -> jdbc.queryForObject("SELECT COUNT(*) FROM millrace_outbox_relay", Long.class));
    if (rows == null || rows > 0) {
      return false;
    }
    try {
      return update(
              "INSERT INTO millrace_outbox_relay (id, relay, held_until) VALUES (1, ?, ?)",
              relay,
              untilMillis)
          == 1;
    } catch (DuplicateKeyException _) {
      return false;
    }
  }

  /** Lets another relay send at once. */
  void release(String relay) {
    update("UPDATE millrace_outbox_relay SET held_until = 0 WHERE id = 1 AND relay = ?", relay);
  }

  /** The first rows that are to be sent. */
  List<Row> first(int most) {
    List<Row> rows =
        transactions.execute(_ ->
            jdbc.query(
                "SELECT id, job_type, job_order, payload, sent_at FROM millrace_outbox"
                    + " WHERE problem IS NULL ORDER BY id LIMIT "
                    + most,
                (found, _) -> {
                  long sentAt = found.getLong(5);
                  return new Row(
                      found.getLong(1),
                      found.getString(2),
                      JSON.readValue(found.getString(3), FIELDS),
                      Bytes.copyOf(found.getBytes(4)),
                      sentAt == 0 ? null : sentAt);
                }));
    return rows == null ? List.of() : rows;
  }

  private void updateEach(String sql, @Nullable Object first, Collection<Long> ids) {
    if (!ids.isEmpty()) {
      String places = String.join(", ", Collections.nCopies(ids.size(), "?"));
      transactions.executeWithoutResult(_ ->
          jdbc.update(
              sql + OF_THESE + places + ")",
              statement -> {
                int place = 1;
                if (first instanceof Long number) {
                  statement.setLong(place++, number);
                } else {
                  statement.setNull(place++, Types.BIGINT);
                }
                for (long id : ids) {
                  statement.setLong(place++, id);
                }
              }));
    }
  }

  /** Notes when rows are sent, or with null that they were not. */
  void markSent(Collection<Long> ids, @Nullable Long nowMillis) {
    updateEach("UPDATE millrace_outbox SET sent_at = ? WHERE 1 = 1", nowMillis, ids);
  }

  /** Deletes rows that were sent. */
  void delete(Collection<Long> ids) {
    updateEach("DELETE FROM millrace_outbox WHERE id > ?", 0L, ids);
  }

  /** Sets a row aside that cannot be sent. */
  void reject(long id, String problem) {
    update("UPDATE millrace_outbox SET problem = ? WHERE id = ?", problem, id);
  }

  /** Has all rows sent again that were set aside; the number of them. */
  int retryRejected() {
    return update(
        "UPDATE millrace_outbox SET problem = NULL, sent_at = NULL WHERE problem IS NOT NULL");
  }

  /** What it holds now. */
  public Content content() {
    Content content =
        transactions.execute(_ ->
            jdbc.queryForObject(
                "SELECT COUNT(*), COUNT(problem),"
                    + " MIN(CASE WHEN problem IS NULL THEN created_at END) FROM millrace_outbox",
                (found, _) ->
                    new Content(
                        found.getLong(1) - found.getLong(2), found.getLong(2), found.getLong(3))));
    return content == null ? new Content(0, 0, 0) : content;
  }
}
