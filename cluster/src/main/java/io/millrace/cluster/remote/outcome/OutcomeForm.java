package io.millrace.cluster.remote.outcome;

import io.millrace.cluster.documents.VersionedDocument;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Outcomes as JSON: {@code {"fence": N, "outcome": "done", "value": BASE64}} or {@code {"fence": N,
 * "outcome": "failed", "failure": {"class": C, "message": M, "trace": T}}}.
 */
final class OutcomeForm {
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
