package io.millrace.cluster.remote.outcome;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.DocumentJson;
import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.partition.PartitionName;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The documents {@code result/GENERATION-NUMBER}, one for each lambda that ran to its end and whose
 * partition still exists. The content is {@code {"fence": N, "outcome": "done", "value": BASE64}}
 * or {@code {"fence": N, "outcome": "failed", "failure": {"class": C, "message": M, "trace": T}}}.
 * Safe for use by any number of threads.
 */
public final class Outcomes {
  /** The prefix of the keys; the rest is that of the partition's name. */
  public static final String PREFIX = "result/";

  private static final Logger LOG = LoggerFactory.getLogger(Outcomes.class);

  private final VersionedDocuments documents;

  /** The outcomes in these documents. */
  public Outcomes(VersionedDocuments documents) {
    this.documents = documents;
  }

  /** The key of the outcome of a partition. */
  public static String key(PartitionName name) {
    return PREFIX + name.key().substring(PartitionName.PREFIX.length());
  }

  /** The partition whose outcome has a key; empty if it is none. */
  public static Optional<PartitionName> partition(String key) {
    return PartitionName.of(PartitionName.PREFIX + key.substring(PREFIX.length()));
  }

  /**
   * Writes the outcome of a partition that the caller holds, whatever the document says. May be
   * repeated.
   *
   * @param fence the fence with which the partition is held
   * @throws UnclearOutcomeException if it may or may not have been written
   */
  public void write(PartitionName name, long fence, Outcome outcome) {
    String json = json(fence, outcome);
    documents.update(key(name), _ -> Optional.of(json));
  }

  /**
   * The outcome of a partition that is done.
   *
   * @param fence the fence with which it was done
   * @return empty if there is none of that fence
   */
  public Optional<Outcome> read(PartitionName name, long fence) {
    return documents.get(key(name)).flatMap(document -> read(document, fence));
  }

  /** Removes the outcome of a partition, if there is one. */
  public void remove(PartitionName name) {
    documents
        .get(key(name))
        .ifPresent(document -> documents.delete(document.key(), document.version()));
  }

  private static String json(long fence, Outcome outcome) {
    ObjectNode json = DocumentJson.object().put("fence", fence);
    switch (outcome) {
      case Outcome.Done(String sealed) -> json.put("outcome", "done").put("value", sealed);
      case Outcome.Failed(RemoteFailure failure) ->
          json.put("outcome", "failed")
              .putObject("failure")
              .put("class", failure.type())
              .put("message", failure.message())
              .put("trace", failure.trace());
    }
    return json.toString();
  }

  private static Optional<Outcome> read(VersionedDocument document, long fence) {
    try {
      return DocumentJson.read(document, "is no outcome", json -> read(json, fence));
    } catch (ClusterException e) {
      LOG.warn("{}", e.getMessage());
      return Optional.empty();
    }
  }

  private static Optional<Outcome> read(JsonNode json, long fence) {
    if (json.path("fence").asLong(-1) != fence) {
      return Optional.empty();
    }
    return Optional.of(outcome(json));
  }

  private static Outcome outcome(JsonNode json) {
    JsonNode failure = json.path("failure");
    return switch (json.path("outcome").asString("")) {
      case "done" -> new Outcome.Done(json.path("value").asString(""));
      case "failed" ->
          new Outcome.Failed(
              new RemoteFailure(
                  failure.path("class").asString(""),
                  failure.path("message").asString(""),
                  failure.path("trace").asString("")));
      default -> throw new IllegalArgumentException("its outcome is neither done nor failed");
    };
  }
}
