package io.millrace.cluster.remote.outcome;

import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.partition.PartitionName;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The documents {@code result/GENERATION-NUMBER}, one for each lambda that was run to its end and
 * whose partition is still there. Safe for use by any number of threads.
 */
public final class Outcomes {
  /** What the keys begin with; the rest is that of the partition's name. */
  public static final String PREFIX = "result/";

  private final VersionedDocuments documents;

  /** The outcomes that these documents know. */
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
   * Writes the outcome of a partition that the caller holds, whatever stands there. May be
   * repeated.
   *
   * @param fence that with which it is held
   * @return whether it is written; false if somebody else writes at the same time
   * @throws UnclearOutcomeException if it may have been written
   */
  public boolean write(PartitionName name, long fence, Outcome outcome) {
    String json = OutcomeForm.write(fence, outcome);
    Optional<VersionedDocument> before = documents.get(key(name));
    if (before.isPresent() && before.get().json().equals(json)) {
      return true;
    }
    Version expected = before.map(VersionedDocument::version).orElse(Version.NONE);
    return documents.put(key(name), expected, json).isPresent();
  }

  /**
   * The outcome of a partition that is done.
   *
   * @param fence that with which it was done
   * @return empty if there is none of that fence
   */
  public Optional<Outcome> read(PartitionName name, long fence) {
    return documents.get(key(name)).flatMap(document -> OutcomeForm.read(document, fence));
  }

  /** Removes the outcome of a partition, if there is one. */
  public void remove(PartitionName name) {
    documents
        .get(key(name))
        .ifPresent(document -> documents.delete(document.key(), document.version()));
  }

  /**
   * Outcomes as JSON: {@code {"fence": N, "outcome": "done", "value": BASE64}} or {@code {"fence":
   * N, "outcome": "failed", "failure": {"class": C, "message": M, "trace": T}}}.
   */
  private static final class OutcomeForm {
    private static final Logger LOG = LoggerFactory.getLogger(OutcomeForm.class);
    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    private OutcomeForm() {}

    static String write(long fence, Outcome outcome) {
      ObjectNode json = MAPPER.createObjectNode();
      json.put("fence", fence);
      switch (outcome) {
        case Outcome.Done(String sealed) -> json.put("outcome", "done").put("value", sealed);
        case Outcome.Failed(RemoteFailure failure) ->
            json.put("outcome", "failed")
                .putObject("failure")
                .put("class", failure.type())
                .put("message", failure.message())
                .put("trace", failure.trace());
      }
      return MAPPER.writeValueAsString(json);
    }

    /** Empty where it is of another fence, or no outcome, which is logged. */
    static Optional<Outcome> read(VersionedDocument document, long fence) {
      try {
        JsonNode json = MAPPER.readTree(document.json());
        if (json.path("fence").asLong(-1) != fence) {
          return Optional.empty();
        }
        return Optional.of(outcome(json));
      } catch (JacksonException | IllegalArgumentException e) {
        LOG.warn("Document {} is no outcome: {}", document.key(), e.getMessage());
        return Optional.empty();
      }
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
}
