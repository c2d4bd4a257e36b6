package io.millrace.cluster.lock;

import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.Optional;

/**
 * Writes that find out what became of them. No two have the same content, as that names its writer
 * by token, fence and expiry; so a document that holds it at a newer version was written by this.
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
      Version now = found.map(VersionedDocument::version).orElse(Version.NONE);
      if (!now.equals(expected)) {
        return found.filter(document -> document.json().equals(json)).map(document -> now);
      }
    }
    throw unclear;
  }
}
