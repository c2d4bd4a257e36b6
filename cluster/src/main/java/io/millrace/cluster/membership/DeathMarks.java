package io.millrace.cluster.membership;

import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The documents {@code dead/TOKEN}: {@code {"fence": N}} with the fence of the leader that marked
 * the member as dead. A member that is still alive removes its own mark.
 */
public final class DeathMarks {
  /** The prefix of the keys; the token follows. */
  public static final String PREFIX = "dead/";

  private DeathMarks() {}

  /** Whether a member is marked. */
  public static boolean isMarked(VersionedDocuments documents, String token) {
    return documents.get(PREFIX + token).isPresent();
  }

  /** The tokens of all marked members. The listing may be slightly stale. */
  public static Set<String> list(VersionedDocuments documents) {
    return documents.list(PREFIX).stream()
        .map(document -> document.key().substring(PREFIX.length()))
        .collect(Collectors.toSet());
  }

  /**
   * Marks a member as dead. Idempotent.
   *
   * @param fence that of the leader
   */
  public static void mark(VersionedDocuments documents, String token, long fence) {
    documents.put(PREFIX + token, Version.NONE, "{\"fence\":" + fence + "}");
  }

  /** Removes a mark; returns whether the member is unmarked now. */
  public static boolean clear(VersionedDocuments documents, String token) {
    Optional<VersionedDocument> mark = documents.get(PREFIX + token);
    return mark.isEmpty() || documents.delete(PREFIX + token, mark.get().version());
  }
}
