package io.millrace.cluster.config;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.lock.LeaseTerms;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The document {@value #KEY}: {@code {"lease": MS, "margin": MS, "plan": {NAME: VALUE, …}}}. The
 * first member writes it, all others read it, so that a member needs to know no more than where the
 * documents are. Safe for use by any number of threads.
 */
public final class ConfigDocument {
  /** The key of the document. */
  public static final String KEY = "config";

  private static final Logger LOG = LoggerFactory.getLogger(ConfigDocument.class);
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final VersionedDocuments documents;

  /** The configuration that these documents hold. */
  public ConfigDocument(VersionedDocuments documents) {
    this.documents = documents;
  }

  /** The configuration; empty where no member has been there yet. */
  public Optional<ClusterConfig> read() {
    return documents.get(KEY).map(ConfigDocument::parse);
  }

  /**
   * The configuration, which becomes this one where there is none yet.
   *
   * @throws UnclearOutcomeException where it was to be written, and is not known to be
   */
  public ClusterConfig readOr(ClusterConfig first) {
    Optional<ClusterConfig> config = read();
    if (config.isPresent()) {
      return config.get();
    }
    try {
      documents.put(KEY, Version.NONE, write(first));
    } catch (UnclearOutcomeException e) {
      LOG.debug("The configuration is looked for, since it may have been written", e);
    }
    return read()
        .orElseThrow(() -> new UnclearOutcomeException("the configuration could not be written"));
  }

  private static String write(ClusterConfig config) {
    ObjectNode json = MAPPER.createObjectNode();
    json.put("lease", config.terms().lease().toMillis());
    json.put("margin", config.terms().margin().toMillis());
    ObjectNode plan = json.putObject("plan");
    new TreeMap<>(config.plan()).forEach(plan::put);
    return MAPPER.writeValueAsString(json);
  }

  private static ClusterConfig parse(VersionedDocument document) {
    try {
      JsonNode json = MAPPER.readTree(document.json());
      Map<String, String> plan = new TreeMap<>();
      json.path("plan")
          .properties()
          .forEach(entry -> plan.put(entry.getKey(), entry.getValue().asString()));
      LeaseTerms terms =
          new LeaseTerms(
              Duration.ofMillis(json.path("lease").asLong(0)),
              Duration.ofMillis(json.path("margin").asLong(0)));
      return new ClusterConfig(terms, plan);
    } catch (JacksonException | IllegalArgumentException e) {
      throw new ClusterException("document " + KEY + " is damaged: " + e.getMessage(), e);
    }
  }
}
