package io.millrace.jobs;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.Outcome;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The types that the store knows, against which a start's configuration is checked. */
final class StoredTypes {
  private final Ledger ledger;

  StoredTypes(Ledger ledger) {
    this.ledger = ledger;
  }

  /**
   * Stores the configured types.
   *
   * @throws InvalidJobException where they contradict what is stored
   */
  void settle(JobTypes configured) {
    ledger.insist(
        "the configuration of job types",
        _ -> {
          Optional<Document> stored = ledger.document(Keys.TYPES);
          List<JobType> known = stored.map(document -> read(document.body())).orElse(List.of());
          if (!configured.replacesStored()) {
            refuse(differences(known, configured));
          }
          if (known.equals(configured.all())) {
            return true;
          }
          long version = stored.map(Document::version).orElse(DocumentVersion.ABSENT);
          Transaction transaction =
              Transaction.by(ledger.self())
                  .put(Keys.TYPES, version, write(configured.all()))
                  .build();
          return ledger.commit(transaction) instanceof Outcome.Done ? true : null;
        });
  }

  private static void refuse(List<String> differences) {
    if (!differences.isEmpty()) {
      throw new InvalidJobException(
          "the configured job types do not match the stored ones: "
              + String.join("; ", differences));
    }
  }

  private List<String> differences(List<JobType> stored, JobTypes configured) {
    List<String> differences = new ArrayList<>();
    if (!configured.isEmpty() && ledger.document(Keys.current("")).isPresent()) {
      differences.add("jobs without a type are stored, and types are configured");
    }
    for (JobType type : stored) {
      Optional<JobType> now =
          configured.isEmpty() ? Optional.empty() : configured.find(type.name());
      if (now.isEmpty()) {
        differences.add("type " + type.name() + " is stored and not configured");
      } else if (!Objects.equals(type.resultBecomes(), now.get().resultBecomes())) {
        differences.add(
            "the result of type "
                + type.name()
                + becomes(" became ", type)
                + " and is configured to"
                + becomes(" become ", now.get()));
      }
    }
    return differences;
  }

  private static String becomes(String verb, JobType type) {
    return verb + (type.resultBecomes() == null ? "nothing" : type.resultBecomes());
  }

  private static Bytes write(List<JobType> types) {
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("types");
    for (JobType type : types) {
      ObjectNode each = list.addObject().put("name", type.name());
      Json.put(each, "description", type.description());
      Json.put(each, "resultBecomes", type.resultBecomes());
    }
    return Json.write(json);
  }

  private static List<JobType> read(Bytes body) {
    List<JobType> types = new ArrayList<>();
    for (JsonNode each : Json.read(body).required("types")) {
      ObjectNode type = (ObjectNode) each;
      types.add(
          new JobType(
              type.required("name").asString(),
              Json.text(type, "description"),
              Json.text(type, "resultBecomes")));
    }
    return types;
  }
}
