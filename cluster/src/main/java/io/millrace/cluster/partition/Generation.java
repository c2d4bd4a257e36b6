package io.millrace.cluster.partition;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The document {@value #KEY}: {@code {"fence": N}}, the fence of the newest leader that gives out
 * partitions. It only grows. Safe for use by any number of threads.
 */
public final class Generation {
  /** The key of the document. */
  public static final String KEY = "generation";

  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final VersionedDocuments documents;

  /** The generation that these documents know. */
  public Generation(VersionedDocuments documents) {
    this.documents = documents;
  }

  /** The newest generation; 0 where there was none. */
  public long current() {
    return documents.get(KEY).map(Generation::read).orElse(0L);
  }

  /**
   * Begins a generation.
   *
   * @return whether it is the newest now; false where a newer one has begun, or may have
   */
  public boolean begin(long fence) {
    Optional<VersionedDocument> document = documents.get(KEY);
    long current = document.map(Generation::read).orElse(0L);
    if (current >= fence) {
      return current == fence;
    }
    Version expected = document.map(VersionedDocument::version).orElse(Version.NONE);
    return documents.put(KEY, expected, "{\"fence\":" + fence + "}").isPresent();
  }

  private static long read(VersionedDocument document) {
    try {
      return MAPPER.readTree(document.json()).path("fence").asLong(0);
    } catch (JacksonException e) {
      throw new ClusterException("document " + KEY + " is damaged: " + e.getOriginalMessage(), e);
    }
  }
}
