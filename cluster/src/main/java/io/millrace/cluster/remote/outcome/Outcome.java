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
 * The outcome of a lambda that returned or failed. As long as its partition exists, the document
 * {@code result/GENERATION-NUMBER} holds it: {@code {"fence": N, "outcome": "done", "value":
 * BASE64}} or {@code {"fence": N, "outcome": "failed", "failure": {"class": C, "message": M,
 * "trace": T}}}.
 */
public sealed interface Outcome {
  /** The prefix of the keys; the rest is that of the partition's key. */
  String PREFIX = "result/";

  /**
   * The lambda returned.
   *
   * @param sealed the result, sealed for the member that submitted it, in base64
   */
  record Done(String sealed) implements Outcome {}

  /**
   * The lambda threw an exception, or its result could not be sent.
   *
   * @param failure the failure
   */
  record Failed(RemoteFailure failure) implements Outcome {}

  /** The key of the outcome of a partition. */
  static String key(PartitionName name) {
    return PREFIX + name.key().substring(PartitionName.PREFIX.length());
  }

  /** The partition whose outcome has this key; empty if it is not such a key. */
  static Optional<PartitionName> partition(String key) {
    return PartitionName.of(PartitionName.PREFIX + key.substring(PREFIX.length()));
  }

  /**
   * Writes the outcome of a partition that the caller holds, and replaces any earlier one.
   * Idempotent.
   *
   * @param fence the fence with which the partition is held
   * @throws UnclearOutcomeException if it may or may not have been written
   */
  default void write(VersionedDocuments documents, PartitionName name, long fence) {
    ObjectNode json = DocumentJson.object().put("fence", fence);
    switch (this) {
      case Done(String sealed) -> json.put("outcome", "done").put("value", sealed);
      case Failed(RemoteFailure failure) ->
          json.put("outcome", "failed")
              .putObject("failure")
              .put("class", failure.type())
              .put("message", failure.message())
              .put("trace", failure.trace());
    }
    documents.update(key(name), _ -> Optional.of(json.toString()));
  }

  /**
   * The outcome of a partition that is done.
   *
   * @param fence the fence with which it was done
   * @return the outcome; empty if there is none with this fence
   */
  static Optional<Outcome> read(VersionedDocuments documents, PartitionName name, long fence) {
    return documents.get(key(name)).flatMap(document -> read(document, fence));
  }

  private static Optional<Outcome> read(VersionedDocument document, long fence) {
    try {
      return DocumentJson.read(document, "is not an outcome", json -> read(json, fence));
    } catch (ClusterException e) {
      Logger log = LoggerFactory.getLogger(Outcome.class);
      log.warn("{}", e.getMessage());
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
      case "done" -> new Done(json.path("value").asString(""));
      case "failed" ->
          new Failed(
              new RemoteFailure(
                  failure.path("class").asString(""),
                  failure.path("message").asString(""),
                  failure.path("trace").asString("")));
      default -> throw new IllegalArgumentException("its outcome is neither done nor failed");
    };
  }

  /** Removes the outcome of a partition, if there is one. */
  static void remove(VersionedDocuments documents, PartitionName name) {
    documents
        .get(key(name))
        .ifPresent(document -> documents.delete(document.key(), document.version()));
  }
}
