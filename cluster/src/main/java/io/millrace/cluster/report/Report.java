package io.millrace.cluster.report;

import io.millrace.cluster.documents.DocumentJson;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a member said last.
 *
 * @param name the reporter's name
 * @param token the member
 * @param timeMillis when it said so by its own wall clock, in milliseconds since 1970
 * @param text what it said in words; empty if it gave values
 * @param values what it said as named values, by name; empty if it used words
 */
public record Report(
    String name, String token, long timeMillis, String text, SortedMap<String, String> values) {
  /** The most bytes of text, and of all names and values together, in UTF-8. */
  public static final int MOST_BYTES = 8192;

  /**
   * Copies the values, and checks the size.
   *
   * @throws IllegalArgumentException if it says too much
   */
  public Report {
    values = Collections.unmodifiableSortedMap(new TreeMap<>(values));
    int length = bytes(text);
    for (Map.Entry<String, String> value : values.entrySet()) {
      length += bytes(value.getKey()) + bytes(value.getValue());
    }
    if (length > MOST_BYTES) {
      throw new IllegalArgumentException(
          "a report has at most %d bytes, not %d".formatted(MOST_BYTES, length));
    }
  }

  /** The report as JSON: {@code text}, or {@code values} instead of that, after what is given. */
  public ObjectNode json(ObjectNode json) {
    json.put("time", timeMillis);
    if (values.isEmpty()) {
      json.put("text", text);
    } else {
      json.set("values", DocumentJson.tree(values));
    }
    return json;
  }

  private static int bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }
}
