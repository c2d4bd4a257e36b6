package io.millrace.cluster.partition;

import io.millrace.cluster.documents.DocumentJson;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.Optional;

/**
 * The document {@value #KEY}: {@code {"fence": N}}, the fence of the newest leader that gives out
 * partitions. It only grows. Safe for use by any number of threads.
 */
public final class Generation {
  /** The key of the document. */
  public static final String KEY = "generation";

  private final VersionedDocuments documents;

  /** The generation in these documents. */
  public Generation(VersionedDocuments documents) {
    this.documents = documents;
  }

  /** The newest generation; 0 if there was none. */
  public long current() {
    return read(documents.get(KEY));
  }

  /**
   * Begins a generation.
   *
   * @return whether it is the newest now; false if a newer one has begun
   */
  public boolean begin(long fence) {
    return read(
            documents.update(
                KEY,
                found ->
                    read(found) >= fence
                        ? Optional.empty()
                        : Optional.of("{\"fence\":" + fence + "}")))
        == fence;
  }

  private static long read(Optional<VersionedDocument> document) {
    return document
        .map(found -> DocumentJson.read(found, "is damaged", json -> json.path("fence").asLong(0)))
        .orElse(0L);
  }
}
