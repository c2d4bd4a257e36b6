package io.millrace.cluster.membership;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.DocumentJson;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The latest status report of a member about its work, in the document {@code status/NAME/TOKEN}:
 * {@code {"time": MS, "text": TEXT}} or {@code {"time": MS, "values": {NAME: VALUE, …}}}. Only the
 * member writes it.
 *
 * @param name the reporter's name
 * @param token the member
 * @param timeMillis the time of the report by the member's wall clock, in milliseconds since 1970
 * @param text the report as text; empty if it has values
 * @param values the report as named values; empty if it is text
 */
public record Report(
    String name, String token, long timeMillis, String text, SortedMap<String, String> values) {
  /** The prefix of the keys of all reports. */
  public static final String PREFIX = "status/";

  /** The maximum bytes of text, or of all names and values together, in UTF-8. */
  public static final int MAX_BYTES = 8192;

  /**
   * Copies the values, and checks the size.
   *
   * @throws IllegalArgumentException if the report is too large
   */
  public Report {
    values = Collections.unmodifiableSortedMap(new TreeMap<>(values));
    int length = bytes(text);
    for (Map.Entry<String, String> value : values.entrySet()) {
      length += bytes(value.getKey()) + bytes(value.getValue());
    }
    if (length > MAX_BYTES) {
      throw new IllegalArgumentException(
          "a report has at most %d bytes, not %d".formatted(MAX_BYTES, length));
    }
  }

  /** All reports, by name and token. */
  public static List<Report> list(VersionedDocuments documents) {
    return list(documents, PREFIX);
  }

  /** The reports of one name, by token. */
  public static List<Report> of(String name, VersionedDocuments documents) {
    return list(documents, PREFIX + name + "/");
  }

  private static List<Report> list(VersionedDocuments documents, String prefix) {
    return documents.list(prefix).stream().flatMap(one -> read(one).stream()).toList();
  }

  /**
   * Reads a report; empty if the key has no name and token.
   *
   * @throws ClusterException if the document is not a report
   */
  public static Optional<Report> read(VersionedDocument document) {
    int slash = document.key().lastIndexOf('/');
    if (slash <= PREFIX.length()) {
      return Optional.empty();
    }
    String name = document.key().substring(PREFIX.length(), slash);
    return Optional.of(
        DocumentJson.read(
            document, "is not a report", json -> read(name, token(document.key()), json)));
  }

  private static Report read(String name, String token, JsonNode json) {
    SortedMap<String, String> values = new TreeMap<>();
    for (Map.Entry<String, JsonNode> value : json.path("values").properties()) {
      values.put(value.getKey(), value.getValue().asString(""));
    }
    return new Report(
        name, token, json.path("time").asLong(0), json.path("text").asString(""), values);
  }

  /** The token of the member whose report has this key. */
  public static String token(String key) {
    return key.substring(key.lastIndexOf('/') + 1);
  }

  /**
   * Writes the report in place of the member's last one.
   *
   * @throws ClusterException if it was not written, or that is unknown
   */
  public void write(VersionedDocuments documents) {
    String json = json(DocumentJson.object()).toString();
    documents.update(PREFIX + name + "/" + token, _ -> Optional.of(json));
  }

  /**
   * Adds the report to a JSON object, as {@code time} and either {@code text} or {@code values}.
   */
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
