package io.millrace.cluster.report;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The documents {@code status/NAME/TOKEN}: {@code {"time": MS, "text": TEXT}} or {@code {"time":
 * MS, "values": {NAME: VALUE, …}}}. Each is written by one member only. Safe for use by any number
 * of threads.
 */
public final class Reports {
  /** What the keys of all reports begin with. */
  public static final String PREFIX = "status/";

  private static final JsonMapper MAPPER = JsonMapper.builder().build();
  private static final int ATTEMPTS = 5;

  private final VersionedDocuments documents;

  /** The reports that these documents hold. */
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
   * Writes a report in the place of the one before, which nobody else does.
   *
   * @throws ClusterException where it is not known to be written
   */
  public void write(Report report) {
    String key = PREFIX + report.name() + "/" + report.token();
    String json = form(report);
    for (int i = 0; i < ATTEMPTS; i++) {
      // Only a late write of our own, or the leader's removal, can come between.
      Version version = documents.get(key).map(VersionedDocument::version).orElse(Version.NONE);
      if (documents.put(key, version, json).isPresent()) {
        return;
      }
    }
    throw new ClusterException("document " + key + " changed under every attempt");
  }

  private static String form(Report report) {
    ObjectNode json = MAPPER.createObjectNode().put("time", report.timeMillis());
    if (report.values().isEmpty()) {
      json.put("text", report.text());
    } else {
      ObjectNode values = json.putObject("values");
      report.values().forEach(values::put);
    }
    return MAPPER.writeValueAsString(json);
  }

  /** Reads a report; empty for what has no name and token. */
  private static Optional<Report> read(VersionedDocument document) {
    int from = PREFIX.length();
    int slash = document.key().lastIndexOf('/');
    if (slash <= from) {
      return Optional.empty();
    }
    try {
      JsonNode json = MAPPER.readTree(document.json());
      SortedMap<String, String> values = new TreeMap<>();
      for (Map.Entry<String, JsonNode> value : json.path("values").properties()) {
        values.put(value.getKey(), value.getValue().asString(""));
      }
      return Optional.of(
          new Report(
              document.key().substring(from, slash),
              token(document.key()),
              json.path("time").asLong(0),
              json.path("text").asString(""),
              values));
    } catch (JacksonException | IllegalArgumentException e) {
      throw new ClusterException(
          "document " + document.key() + " is no report: " + e.getMessage(), e);
    }
  }
}
