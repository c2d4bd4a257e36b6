package io.millrace.archive;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which rows of a table to list, ordered by the time at which the items had finished, then by id.
 *
 * @param table the table
 * @param conditions all of them hold for each row
 * @param newestFirst whether the items that finished last come first
 * @param after only rows that come later in this order; null from the first
 * @param limit the most rows, from 1
 */
public record ArchiveQuery(
    ArchiveTable table,
    List<Condition> conditions,
    boolean newestFirst,
    @Nullable Cursor after,
    int limit) {

  /** The first {@code limit} rows, newest first. */
  public static ArchiveQuery newest(ArchiveTable table, int limit) {
    return new ArchiveQuery(table, List.of(), true, null, limit);
  }

  /** The same with one more condition. */
  public ArchiveQuery where(Condition condition) {
    List<Condition> more = new ArrayList<>(conditions);
    more.add(condition);
    return new ArchiveQuery(table, List.copyOf(more), newestFirst, after, limit);
  }

  /** The same for rows after this one; null from the first. */
  public ArchiveQuery after(@Nullable Cursor cursor) {
    return new ArchiveQuery(table, conditions, newestFirst, cursor, limit);
  }

  /** The same in this order. */
  public ArchiveQuery newestFirst(boolean newest) {
    return new ArchiveQuery(table, conditions, newest, after, limit);
  }

  /** A condition on the value of a column. */
  public sealed interface Condition {
    /** The column. */
    String column();

    /** It is one of these, each a {@link String} or a {@link Long}; at most 1,000. */
    record OneOf(String column, Collection<?> values) implements Condition {}

    /** It is not less than this. */
    record AtLeast(String column, Object value) implements Condition {}

    /** It is less than this. */
    record LessThan(String column, Object value) implements Condition {}

    /** It begins with this. */
    record StartsWith(String column, String prefix) implements Condition {}

    /** At least one of these holds; none for nothing. */
    record AnyOf(List<Condition> conditions) implements Condition {
      @Override
      public String column() {
        return ArchiveTable.ID;
      }
    }
  }

  /**
   * The place of a row in the order of a list.
   *
   * @param finishedMillis when its item had finished
   * @param id its id
   */
  public record Cursor(long finishedMillis, String id) {
    private static final Pattern FORM = Pattern.compile("(\\d{1,18})-([A-Za-z0-9.:_-]{1,128})");

    /** The place of this row. */
    public static Cursor of(ArchiveRow row) {
      return new Cursor(row.finishedMillis(), row.id());
    }

    /** Reads what {@link #text} gave; empty if it is something else. */
    public static Optional<Cursor> parse(String text) {
      Matcher parts = FORM.matcher(text);
      return parts.matches()
          ? Optional.of(new Cursor(Long.parseLong(parts.group(1)), parts.group(2)))
          : Optional.empty();
    }

    /** A text for clients, from which {@link #parse} makes it again. */
    public String text() {
      return finishedMillis + "-" + id;
    }
  }
}
