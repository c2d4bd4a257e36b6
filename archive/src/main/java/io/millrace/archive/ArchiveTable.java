package io.millrace.archive;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The tables of the archive and their columns. Every table has the columns {@link #ID}, {@link
 * #FINISHED} and {@link #ARCHIVED}.
 */
public enum ArchiveTable {
  /** Tasks of queues. */
  TASKS,
  /** Jobs. */
  JOBS,
  /** Nodes of graphs. */
  GRAPHS;

  /** The column of the id, the primary key. */
  public static final String ID = "id";

  /** The column that says when an item had finished. */
  public static final String FINISHED = "finished";

  /** The column that says when an item was archived; the same for all items of a batch. */
  public static final String ARCHIVED = "archived";

  private static final List<Column> OF_TASKS =
      List.of(
          text("id"),
          text("queue_id"),
          text("queue"),
          number("status"),
          text("node"),
          time("created"),
          time("finished"),
          time("archived"),
          json("document"));

  private static final List<Column> OF_JOBS =
      List.of(
          text("id"),
          text("job_key"),
          text("type"),
          text("status"),
          text("priority"),
          number("batch"),
          text("worker"),
          time("submitted"),
          time("started"),
          time("finished"),
          time("archived"),
          number("failures"),
          number("returns"),
          number("payload_bytes"),
          number("result_bytes"),
          bytes("payload"),
          bytes("result"),
          text("result_blob"),
          json("document"));

  private static final List<Column> OF_GRAPHS =
      List.of(
          text("id"),
          text("graph"),
          text("name"),
          text("type"),
          text("state"),
          text("reason"),
          number("attempts"),
          time("created"),
          time("started"),
          time("finished"),
          time("archived"),
          json("parents"),
          json("document"));

  /** The kinds of values of a column. */
  public enum Type {
    /** A short text, of which at most the first 512 characters are kept. */
    TEXT,
    /** JSON as text, of any length. */
    JSON,
    /** A whole number. */
    NUMBER,
    /** Milliseconds since 1970-01-01T00:00Z. */
    TIME,
    /** Bytes. */
    BYTES
  }

  /** A column. */
  public record Column(String name, Type type) {}

  private static Column text(String name) {
    return new Column(name, Type.TEXT);
  }

  private static Column json(String name) {
    return new Column(name, Type.JSON);
  }

  private static Column number(String name) {
    return new Column(name, Type.NUMBER);
  }

  private static Column time(String name) {
    return new Column(name, Type.TIME);
  }

  private static Column bytes(String name) {
    return new Column(name, Type.BYTES);
  }

  /** The word for its items: {@code tasks}, {@code jobs} or {@code graphs}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Its name in the database. */
  public String tableName() {
    return "archived_" + word();
  }

  /** Its columns. */
  public List<Column> columns() {
    return switch (this) {
      case TASKS -> OF_TASKS;
      case JOBS -> OF_JOBS;
      case GRAPHS -> OF_GRAPHS;
    };
  }

  /** The column of this name. */
  public Optional<Column> column(String name) {
    return columns().stream().filter(column -> column.name().equals(name)).findFirst();
  }

  /** The table of this word. */
  public static Optional<ArchiveTable> of(String word) {
    return Arrays.stream(values()).filter(table -> table.word().equals(word)).findFirst();
  }
}
