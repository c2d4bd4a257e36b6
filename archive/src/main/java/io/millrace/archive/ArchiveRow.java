package io.millrace.archive;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An archived item: the values of its columns by name. Texts and JSON are a {@link String}, numbers
 * and times a {@link Long}, bytes a {@code byte[]}; an absent column is null.
 *
 * @param table its table
 * @param values not changed any more
 */
public record ArchiveRow(ArchiveTable table, Map<String, Object> values) {
  /** Begins the row of an item. */
  public static Builder of(ArchiveTable table, String id) {
    return new Builder(table).put(ArchiveTable.ID, id);
  }

  /** Its id. */
  public String id() {
    return Objects.requireNonNull(text(ArchiveTable.ID));
  }

  /** When it had finished, in milliseconds since the epoch. */
  public long finishedMillis() {
    return Objects.requireNonNull(number(ArchiveTable.FINISHED));
  }

  /** A text or JSON; null if it is absent. */
  public @Nullable String text(String column) {
    return (String) values.get(column);
  }

  /** A number or time; null if it is absent. */
  public @Nullable Long number(String column) {
    return (Long) values.get(column);
  }

  /** Bytes; null if they are absent. */
  public byte @Nullable [] bytes(String column) {
    return (byte[]) values.get(column);
  }

  /** A row in the making; for use by one thread. */
  public static final class Builder {
    private final ArchiveTable table;
    private final Map<String, Object> values = new LinkedHashMap<>();

    private Builder(ArchiveTable table) {
      this.table = table;
    }

    /**
     * Sets a value.
     *
     * @param value of the type of the column; null for none
     * @throws IllegalArgumentException if the table has no such column
     */
    public Builder put(String column, @Nullable Object value) {
      if (table.column(column).isEmpty()) {
        throw new IllegalArgumentException(table.tableName() + " has no column " + column);
      }
      if (value != null) {
        values.put(column, value);
      }
      return this;
    }

    /** The row. */
    public ArchiveRow build() {
      return new ArchiveRow(table, values);
    }
  }
}
