package io.millrace.cluster.report;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.DocumentJson;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;

/**
 * The documents {@code status/NAME/TOKEN}: {@code {"time": MS, "text": TEXT}} or {@code {"time":
 * MS, "values": {NAME: VALUE, …}}}. Each is written by one member only. Safe for use by any number
 * of threads.
 */
public final class Reports {
  /** The prefix of the keys of all reports. */
  public static final String PREFIX = "status/";

  private final VersionedDocuments documents;

  /** The reports in these documents. */
  public Reports(VersionedDocuments documents) {
    this.documents = documents;
  }

  /** All reports, by name and token. */
  public List<Report> all() {
    return read(PREFIX);
  }

  /** The reports of one name, by token. */
  public List<Report> of(String name) {
    return read(PREFIX + name + "/");
  }

  private List<Report> read(String prefix) {
    return documents.list(prefix).stream().flatMap(one -> read(one).stream()).toList();
  }

  /** The token of the member whose report has this key. */
  public static String token(String key) {
    return key.substring(key.lastIndexOf('/') + 1);
  }

  /**
   * Writes a report in place of the member's last one.
   *
   * @throws ClusterException if it is not known to be written
   */
  public void write(Report report) {
    String json = report.json(DocumentJson.object()).toString();
    documents.update(PREFIX + report.name() + "/" + report.token(), _ -> Optional.of(json));
  }

  /** Reads a report; empty if the key has no name and token. */
  public static Optional<Report> read(VersionedDocument document) {
    int from = PREFIX.length();
    int slash = document.key().lastIndexOf('/');
    if (slash <= from) {
      return Optional.empty();
    }
    String name = document.key().substring(from, slash);
    return Optional.of(
        DocumentJson.read(
            document,
            "is no report",
            json ->
                new Report(
                    name,
                    token(document.key()),
                    json.path("time").asLong(0),
                    json.path("text").asString(""),
                    values(json))));
  }

  private static SortedMap<String, String> values(JsonNode json) {
    SortedMap<String, String> values = new TreeMap<>();
    for (Map.Entry<String, JsonNode> value : json.path("values").properties()) {
      values.put(value.getKey(), value.getValue().asString(""));
    }
    return values;
  }
}
