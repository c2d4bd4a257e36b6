package io.millrace.cluster.membership;

import io.millrace.cluster.documents.DocumentJson;
import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.lock.LeaseTerms;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The settings that all members of a cluster share, in the document {@value #KEY}: {@code {"lease":
 * MS, "margin": MS, "plan": {NAME: VALUE, …}}}. The first member writes it and all others read it,
 * so a member only needs the location of the documents.
 *
 * @param terms how long locks are held
 * @param plan the work of the members, as named values; empty for none. The member that reads it
 *     interprets the names
 */
public record ClusterConfig(LeaseTerms terms, Map<String, String> plan) {
  /** The key of the document. */
  public static final String KEY = "config";

  /** Copies the plan. */
  public ClusterConfig {
    plan = Map.copyOf(plan);
  }

  /** The settings of a cluster; empty if no member has written them yet. */
  public static Optional<ClusterConfig> read(VersionedDocuments documents) {
    return documents.get(KEY).map(ClusterConfig::read);
  }

  /**
   * Writes these settings unless the cluster has some already.
   *
   * @return the settings of the cluster
   * @throws UnclearOutcomeException if it is not known whether they were written
   */
  public ClusterConfig orExisting(VersionedDocuments documents) {
    return read(documents.createIfAbsent(KEY, json()));
  }

  private String json() {
    ObjectNode json = DocumentJson.object();
    json.put("lease", terms.lease().toMillis());
    json.put("margin", terms.margin().toMillis());
    ObjectNode values = json.putObject("plan");
    new TreeMap<>(plan).forEach(values::put);
    return json.toString();
  }

  private static ClusterConfig read(VersionedDocument document) {
    return DocumentJson.read(
        document,
        "is damaged",
        json -> {
          Map<String, String> plan = new TreeMap<>();
          for (Map.Entry<String, JsonNode> value : json.path("plan").properties()) {
            plan.put(value.getKey(), value.getValue().asString());
          }
          LeaseTerms terms =
              new LeaseTerms(
                  Duration.ofMillis(json.path("lease").asLong(0)),
                  Duration.ofMillis(json.path("margin").asLong(0)));
          return new ClusterConfig(terms, plan);
        });
  }

  @Override
  public String toString() {
    return "lease %d ms, margin %d ms, plan %s"
        .formatted(terms.lease().toMillis(), terms.margin().toMillis(), new TreeMap<>(plan));
  }
}
