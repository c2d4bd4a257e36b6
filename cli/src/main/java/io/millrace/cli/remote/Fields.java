package io.millrace.cli.remote;

import io.millrace.cli.terminal.Table;
import java.io.PrintStream;
import java.util.Map;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** JSON values as people read them. */
public final class Fields {
  private Fields() {}

  /** Prints an object's fields, one on a line. */
  public static void print(PrintStream out, JsonNode object) {
    Table table = new Table("FIELD", "VALUE");
    for (Map.Entry<String, JsonNode> field : object.properties()) {
      table.row(field.getKey(), text(field.getValue()));
    }
    table.print(out);
  }

  /** A value: text as it is, null and nothing as {@code -}, lists with commas, ids plainly. */
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

  /** The id that an object has, plain or as {@code {"$oid": …}}. */
  public static String id(JsonNode object) {
    return text(object.has("_id") ? object.path("_id") : object.path("id"));
  }
}
