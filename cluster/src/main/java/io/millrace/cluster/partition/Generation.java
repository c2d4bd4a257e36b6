package io.millrace.cluster.partition;

import io.millrace.cluster.documents.DocumentJson;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.Optional;

/**
 * The document {@value #KEY}: {@code {"fence": N}}, the fence of the newest leader that creates
 * partitions. It only grows.
 */
public final class Generation {
  /** The key of the document. */
  public static final String KEY = "generation";

  private Generation() {}

  /** The newest generation; 0 if there was none. */
  public static long current(VersionedDocuments documents) {
    return read(documents.get(KEY));
  }

  /**
   * Begins a generation.
   *
   * @return whether it is the newest now; false if a newer one has begun
   */
  public static boolean begin(VersionedDocuments documents, long fence) {
    String json = "{\"fence\":" + fence + "}";
    return fence
        == read(documents.update(KEY, found -> Optional.of(json).filter(_ -> read(found) < fence)));
  }

  private static long read(Optional<VersionedDocument> document) {
    return document
        .map(found -> DocumentJson.read(found, "is damaged", json -> json.path("fence").asLong(0)))
        .orElse(0L);
  }
}
