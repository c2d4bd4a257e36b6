package io.millrace.jobs.registry;

import io.millrace.jobs.InvalidJobException;
import io.millrace.jobs.JobType;
import io.millrace.jobs.JobTypes;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.Outcome;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** The stored job types, against which the configuration is checked at a start. */
final class StoredTypes {
  private final JobStore store;

  StoredTypes(JobStore store) {
    this.store = store;
  }

  /**
   * Stores the configured types.
   *
   * @throws InvalidJobException if they contradict what is stored
   */
  void settle(JobTypes configured) {
    store.retry(
        "the configuration of job types",
        () -> {
          Optional<Document> stored = store.document(Keys.TYPES);
          List<JobType> known = stored.map(document -> read(document.body())).orElse(List.of());
          if (!configured.replacesStored()) {
            refuse(differences(known, configured));
          }
          if (known.equals(configured.all())) {
            return true;
          }
          long version = stored.map(Document::version).orElse(DocumentVersion.ABSENT);
          Transaction transaction =
              Transaction.by(store.self())
                  .put(Keys.TYPES, version, write(configured.all()))
                  .build();
          return store.commit(transaction) instanceof Outcome.Done ? true : null;
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
    if (!configured.isEmpty() && store.document(Keys.current("")).isPresent()) {
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

  /** The document of the types. */
  private record Stored(List<JobType> types) {}

  private static Bytes write(List<JobType> types) {
    return JobJson.bind(new Stored(types));
  }

  private static List<JobType> read(Bytes body) {
    return JobJson.bound(body, Stored.class).types();
  }
}
