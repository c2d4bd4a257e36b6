package io.millrace.archive;

import io.millrace.archive.ArchiveQuery.Condition;
import io.millrace.archive.ArchiveQuery.Cursor;
import io.millrace.archive.ArchiveTable.Column;
import io.millrace.database.DatabaseAddress;
import io.millrace.database.DatabaseAddress.Kind;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The archive: rows of finished items in a database. A database belongs to one store. Nothing is
 * opened before it is needed; each call that fails may be repeated. Safe for use by threads.
 */
public final class Archive implements AutoCloseable {
  /** How long a query may take. */
  public static final Duration QUERY_TIMEOUT = Duration.ofSeconds(60);

  private static final Duration WRITE_TIMEOUT = Duration.ofMinutes(5);
  private static final int MAX_TEXT = 512;
  private static final int AT_ONCE = 500;

  private final Database database;

  private Archive(Database database) {
    this.database = database;
  }

  /** The archive in this database, which is opened when it is used first. */
  public static Archive at(DatabaseAddress location) {
    return new Archive(new Database(location));
  }

  /**
   * Stores rows of one table in one transaction, in place of earlier ones with their ids. They are
   * durable when it returns.
   *
   * @throws ArchiveException if the database fails; then it is unknown whether they are stored
   */
  public void put(List<ArchiveRow> rows) {
    if (rows.isEmpty()) {
      return;
    }
    ArchiveTable table = rows.getFirst().table();
    String sql = upsert(table, database.kind());
    database.write(
        WRITE_TIMEOUT,
        session -> {
          try (PreparedStatement insert = session.prepare(sql)) {
            for (ArchiveRow row : rows) {
              bind(insert, table, row);
              insert.addBatch();
            }
            insert.executeBatch();
          }
          return null;
        });
  }

  private static String upsert(ArchiveTable table, Kind kind) {
    List<String> names = table.columns().stream().map(Column::name).toList();
    String places = names.stream().map(_ -> "?").collect(Collectors.joining(", "));
    String sql =
        "INSERT INTO %s (%s) VALUES (%s)"
            .formatted(table.tableName(), String.join(", ", names), places);
    Predicate<String> changes = name -> !name.equals(ArchiveTable.ID);
    return switch (kind) {
      case SQLITE, POSTGRESQL ->
          sql
              + names.stream()
                  .filter(changes)
                  .map(name -> name + " = excluded." + name)
                  .collect(Collectors.joining(", ", " ON CONFLICT (id) DO UPDATE SET ", ""));
      case MARIADB ->
          sql
              + names.stream()
                  .filter(changes)
                  .map(name -> name + " = VALUES(" + name + ")")
                  .collect(Collectors.joining(", ", " ON DUPLICATE KEY UPDATE ", ""));
    };
  }

  private static void bind(PreparedStatement insert, ArchiveTable table, ArchiveRow row)
      throws SQLException {
    int at = 0;
    for (Column column : table.columns()) {
      at++;
      switch (column.type()) {
        case TEXT, JSON -> {
          String text = row.text(column.name());
          insert.setString(
              at, text == null || column.type() == ArchiveTable.Type.JSON ? text : shortened(text));
        }
        case NUMBER, TIME -> {
          Long number = row.number(column.name());
          if (number == null) {
            insert.setNull(at, Types.BIGINT);
          } else {
            insert.setLong(at, number);
          }
        }
        case BYTES -> insert.setBytes(at, row.bytes(column.name()));
      }
    }
  }

  /** As every database takes it: not too long for an index, and without the character NUL. */
  private static String shortened(String text) {
    String clean = text.replace('\0', '\uFFFD');
    if (clean.length() <= MAX_TEXT) {
      return clean;
    }
    int end = Character.isHighSurrogate(clean.charAt(MAX_TEXT - 1)) ? MAX_TEXT - 1 : MAX_TEXT;
    return clean.substring(0, end);
  }

  /** Removes rows. */
  public void drop(ArchiveTable table, Collection<String> ids) {
    if (ids.isEmpty()) {
      return;
    }
    database.write(
        WRITE_TIMEOUT,
        session -> {
          String sql = "DELETE FROM %s WHERE id = ?".formatted(table.tableName());
          try (PreparedStatement delete = session.prepare(sql)) {
            for (String id : ids) {
              delete.setString(1, id);
              delete.addBatch();
            }
            delete.executeBatch();
          }
          return null;
        });
  }

  /**
   * Removes up to a few hundred rows whose items had finished before a time.
   *
   * @return whether there may be more of them
   */
  public boolean trim(ArchiveTable table, long beforeMillis) {
    if (database.isAbsent()) {
      return false;
    }
    List<String> old =
        summaries(
                ArchiveQuery.newest(table, AT_ONCE)
                    .newestFirst(false)
                    .where(new Condition.LessThan(ArchiveTable.FINISHED, beforeMillis)))
            .stream()
            .map(ArchiveRow::id)
            .toList();
    drop(table, old);
    return old.size() == AT_ONCE;
  }

  /** The row of this id, with its bytes. */
  public Optional<ArchiveRow> find(ArchiveTable table, String id) {
    return find(table, ArchiveTable.ID, id);
  }

  /** The row with this text in a column whose item finished last, with its bytes. */
  public Optional<ArchiveRow> find(ArchiveTable table, String column, String text) {
    ArchiveQuery query =
        ArchiveQuery.newest(table, 1).where(new Condition.OneOf(column, List.of(text)));
    return select(query, table.columns()).stream().findFirst();
  }

  /**
   * The rows that a query asks for, without their bytes.
   *
   * @throws ArchiveException.QueryTimeoutException after {@link #QUERY_TIMEOUT}
   * @throws ArchiveException if the database fails
   */
  public List<ArchiveRow> list(ArchiveQuery query) {
    return select(
        query,
        query.table().columns().stream()
            .filter(column -> column.type() != ArchiveTable.Type.BYTES)
            .toList());
  }

  /** The same with these columns only, of which one is {@code finished} and one is {@code id}. */
  public List<ArchiveRow> list(ArchiveQuery query, String... names) {
    return select(query, columns(query.table(), names));
  }

  /** The same without their documents. */
  public List<ArchiveRow> summaries(ArchiveQuery query) {
    return select(
        query,
        query.table().columns().stream()
            .filter(column ->
                column.type() != ArchiveTable.Type.BYTES && column.type() != ArchiveTable.Type.JSON)
            .toList());
  }

  /** How many rows match the conditions of a query, whatever its limit. */
  public long count(ArchiveQuery query) {
    if (database.isAbsent()) {
      return 0;
    }
    Where where = Where.of(query, false);
    String sql = "SELECT COUNT(*) FROM " + query.table().tableName() + where.sql;
    return database.read(
        QUERY_TIMEOUT,
        session -> {
          try (PreparedStatement select = session.prepare(sql)) {
            where.bind(select);
            try (ResultSet found = select.executeQuery()) {
              return found.next() ? found.getLong(1) : 0L;
            }
          }
        });
  }

  /** Those of these ids that have rows. */
  public Set<String> present(ArchiveTable table, Collection<String> ids) {
    Set<String> present = new HashSet<>();
    List<String> all = List.copyOf(ids);
    for (int from = 0; from < all.size(); from += AT_ONCE) {
      List<String> some = all.subList(from, Math.min(all.size(), from + AT_ONCE));
      ArchiveQuery query =
          ArchiveQuery.newest(table, some.size()).where(new Condition.OneOf(ArchiveTable.ID, some));
      select(query, columns(table, ArchiveTable.ID, ArchiveTable.FINISHED))
          .forEach(row -> present.add(row.id()));
    }
    return present;
  }

  /**
   * The rows that were archived last.
   *
   * @param archivedMillis when, the same for all of them; 0 for none
   * @param ids their ids
   */
  record Batch(long archivedMillis, Set<String> ids) {}

  /** The rows that were archived last. */
  Batch lastBatch(ArchiveTable table) {
    if (database.isAbsent()) {
      return new Batch(0, Set.of());
    }
    String sql =
        "SELECT id, archived FROM %1$s WHERE archived = (SELECT MAX(archived) FROM %1$s)"
            .formatted(table.tableName());
    return database.read(
        QUERY_TIMEOUT,
        session -> {
          long archived = 0;
          Set<String> ids = new HashSet<>();
          try (PreparedStatement select = session.prepare(sql);
              ResultSet found = select.executeQuery()) {
            while (found.next()) {
              ids.add(found.getString(1));
              archived = found.getLong(2);
            }
          }
          return new Batch(archived, ids);
        });
  }

  private static List<Column> columns(ArchiveTable table, String... names) {
    Set<String> wanted = Set.of(names);
    return table.columns().stream().filter(column -> wanted.contains(column.name())).toList();
  }

  private List<ArchiveRow> select(ArchiveQuery query, List<Column> columns) {
    if (database.isAbsent()) {
      return List.of();
    }
    Where where = Where.of(query, true);
    String direction = query.newestFirst() ? "DESC" : "ASC";
    String sql =
        "SELECT %s FROM %s%s ORDER BY finished %s, id %s LIMIT %d"
            .formatted(
                columns.stream().map(Column::name).collect(Collectors.joining(", ")),
                query.table().tableName(),
                where.sql,
                direction,
                direction,
                query.limit());
    return database.read(
        QUERY_TIMEOUT,
        session -> {
          List<ArchiveRow> rows = new ArrayList<>();
          try (PreparedStatement select = session.prepare(sql)) {
            where.bind(select);
            try (ResultSet found = select.executeQuery()) {
              while (found.next()) {
                rows.add(row(query.table(), columns, found));
              }
            }
          }
          return rows;
        });
  }

  private static ArchiveRow row(ArchiveTable table, List<Column> columns, ResultSet found)
      throws SQLException {
    ArchiveRow.Builder row = ArchiveRow.of(table, "");
    for (int i = 0; i < columns.size(); i++) {
      Column column = columns.get(i);
      row.put(
          column.name(),
          switch (column.type()) {
            case TEXT, JSON -> found.getString(i + 1);
            case BYTES -> found.getBytes(i + 1);
            case NUMBER, TIME -> {
              long number = found.getLong(i + 1);
              yield found.wasNull() ? null : number;
            }
          });
    }
    return row.build();
  }

  /** The conditions of a query as SQL; the names in it are those of columns of the table. */
  private static final class Where {
    private final ArchiveTable table;
    private final List<Object> values = new ArrayList<>();
    private String sql = "";

    private Where(ArchiveTable table) {
      this.table = table;
    }

    static Where of(ArchiveQuery query, boolean paged) {
      Where where = new Where(query.table());
      List<String> parts = new ArrayList<>();
      query.conditions().forEach(condition -> parts.add(where.add(condition)));
      Cursor after = query.after();
      if (paged && after != null) {
        String beyond = query.newestFirst() ? "<" : ">";
        parts.add("(finished %1$s ? OR (finished = ? AND id %1$s ?))".formatted(beyond));
        where.values.addAll(List.of(after.finishedMillis(), after.finishedMillis(), after.id()));
      }
      where.sql = parts.isEmpty() ? "" : " WHERE " + String.join(" AND ", parts);
      return where;
    }

    private String add(Condition condition) {
      return switch (condition) {
        case Condition.OneOf(String column, Collection<?> wanted) -> {
          values.addAll(wanted);
          yield wanted.isEmpty()
              ? "1 = 0"
              : wanted.stream()
                  .map(_ -> "?")
                  .collect(Collectors.joining(", ", checked(column) + " IN (", ")"));
        }
        case Condition.AtLeast(String column, Object least) -> {
          values.add(least);
          yield checked(column) + " >= ?";
        }
        case Condition.LessThan(String column, Object limit) -> {
          values.add(limit);
          yield checked(column) + " < ?";
        }
        case Condition.StartsWith(String column, String prefix) -> {
          values.add(prefix);
          values.add(prefix.codePointCount(0, prefix.length()));
          values.add(prefix);
          yield "(%1$s >= ? AND SUBSTR(%1$s, 1, ?) = ?)".formatted(checked(column));
        }
        case Condition.AnyOf(List<Condition> conditions) ->
            conditions.isEmpty()
                ? "1 = 0"
                : conditions.stream().map(this::add).collect(Collectors.joining(" OR ", "(", ")"));
      };
    }

    private String checked(String column) {
      if (table.column(column).isEmpty()) {
        throw new IllegalArgumentException(table.tableName() + " has no column " + column);
      }
      return column;
    }

    void bind(PreparedStatement statement) throws SQLException {
      for (int i = 0; i < values.size(); i++) {
        switch (values.get(i)) {
          case Long number -> statement.setLong(i + 1, number);
          case Integer number -> statement.setInt(i + 1, number);
          case Object text -> statement.setString(i + 1, shortened(text.toString()));
        }
      }
    }
  }

  /** Whether it was closed. */
  public boolean isClosed() {
    return database.isClosed();
  }

  /** Closes all connections. */
  @Override
  public void close() {
    database.close();
  }
}
