package io.millrace.cluster.documents.elastic;

import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;

/**
 * A document as the engine gives it back.
 *
 * @param write what whoever wrote it called that write
 * @param document the document
 */
record Hit(String write, VersionedDocument document) {
  /** What others call the version with this number and term. */
  static Version version(long number, long term) {
    return new Version(number + "." + term);
  }
}
