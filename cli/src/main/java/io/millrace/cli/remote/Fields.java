package io.millrace.cli.remote;

import io.millrace.cli.terminal.Table;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** Formats JSON values for people. */
public final class Fields {
  private Fields() {}

  /** Prints the fields of an object, one per line. */
  public static void print(PrintStream out, JsonNode object) {
    Table table = new Table("FIELD", "VALUE");
    for (Map.Entry<String, JsonNode> field : object.properties()) {
      table.row(field.getKey(), text(field.getValue()));
    }
    table.print(out);
  }

  /**
   * Formats a value: text unchanged, null, absent values and empty lists as {@code -}, lists with
   * commas, {@code {"$oid": …}} as the plain id.
   */
  public static String text(JsonNode value) {
    if (value.isNull() || value.isMissingNode()) {
      return "-";
    }
    if (value.isArray()) {
      return value.isEmpty()
          ? "-"
          : value.valueStream().map(Fields::text).collect(Collectors.joining(", "));
    }
    if (value.has("$oid")) {
      return value.path("$oid").asString();
    }
    return value.isValueNode() ? value.asString() : value.toString();
  }

  /** The id of an object, from {@code _id} or {@code id}. */
  public static String id(JsonNode object) {
    return text(object.has("_id") ? object.path("_id") : object.path("id"));
  }

  /** The columns of a table of JSON objects. */
  public static final class Columns {
    private final List<String> headings = new ArrayList<>();
    private final List<Function<JsonNode, Object>> cells = new ArrayList<>();

    /** A table without columns. */
    public Columns() {}

    /** Adds a column for each field; its heading is the name of the field in capitals. */
    public Columns fields(String... names) {
      for (String name : names) {
        var _ = field(name.toUpperCase(Locale.ROOT), name);
      }
      return this;
    }

    /** Adds a column for a field. */
    public Columns field(String heading, String name) {
      return with(heading, row -> text(row.path(name)));
    }

    /** Adds a column whose cells are computed from the whole object. */
    public Columns with(String heading, Function<JsonNode, Object> cell) {
      headings.add(heading);
      cells.add(cell);
      return this;
    }

    /** Prints the table. */
    public void print(PrintStream out, Iterable<JsonNode> rows) {
      Table table = new Table(headings.toArray(String[]::new));
      rows.forEach(row -> table.row(cells.stream().map(cell -> cell.apply(row)).toArray()));
      table.print(out);
    }
  }
}
