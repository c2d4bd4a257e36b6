package io.millrace.cluster.lock;

import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.Optional;

/**
 * Writes that find out what became of them. The content of each names its writer by token and
 * fence, so a document that holds it was written by this write.
 */
final class Clearing {
  private static final int ATTEMPTS = 3;

  private final VersionedDocuments documents;

  Clearing(VersionedDocuments documents) {
    this.documents = documents;
  }

  /**
   * Writes a document at a version.
   *
   * @return the version that it has with this content, or empty where another one was written
   * @throws UnclearOutcomeException where the last of several attempts is still unclear
   */
  Optional<Version> write(String key, Version expected, String json) {
    UnclearOutcomeException unclear = null;
    for (int i = 0; i < ATTEMPTS; i++) {
      try {
        Optional<Version> written = documents.put(key, expected, json);
        if (written.isPresent() || unclear == null) {
          return written;
        }
      } catch (UnclearOutcomeException e) {
        unclear = e;
      }
      Optional<VersionedDocument> found = documents.get(key);
      if (found.isPresent() && found.get().json().equals(json)) {
        return Optional.of(found.get().version());
      }
      Version now = found.map(VersionedDocument::version).orElse(Version.NONE);
      if (!now.equals(expected)) {
        return Optional.empty();
      }
    }
    throw unclear;
  }
}
