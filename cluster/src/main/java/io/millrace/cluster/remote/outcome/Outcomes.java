package io.millrace.cluster.remote.outcome;

import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.partition.PartitionName;
import java.util.Optional;

/**
 * The documents {@code result/GENERATION-NUMBER}, one for each lambda that was run to its end and
 * whose partition is still there. Safe for use by any number of threads.
 */
public final class Outcomes {
  /** What the keys begin with; the rest is that of the partition's name. */
  public static final String PREFIX = "result/";

  private final VersionedDocuments documents;

  /** The outcomes that these documents know. */
  public Outcomes(VersionedDocuments documents) {
    this.documents = documents;
  }

  /** The key of the outcome of a partition. */
  public static String key(PartitionName name) {
    return PREFIX + name.key().substring(PartitionName.PREFIX.length());
  }

  /** The partition whose outcome has a key; empty where it is none. */
  public static Optional<PartitionName> partition(String key) {
    return PartitionName.of(PartitionName.PREFIX + key.substring(PREFIX.length()));
  }

  /**
   * Writes the outcome of a partition that the caller holds, whatever stands there. May be
   * repeated.
   *
   * @param fence that with which it is held
   * @return whether it is written; false where somebody else writes at the same time
   * @throws UnclearOutcomeException where it may have been written
   */
  public boolean write(PartitionName name, long fence, Outcome outcome) {
    String json = OutcomeForm.write(fence, outcome);
    Optional<VersionedDocument> before = documents.get(key(name));
    if (before.isPresent() && before.get().json().equals(json)) {
      return true;
    }
    Version expected = before.map(VersionedDocument::version).orElse(Version.NONE);
    return documents.put(key(name), expected, json).isPresent();
  }

  /**
   * The outcome of a partition that is done.
   *
   * @param fence that with which it was done
   * @return empty where there is none of that fence
   */
  public Optional<Outcome> read(PartitionName name, long fence) {
    return documents.get(key(name)).flatMap(document -> OutcomeForm.read(document, fence));
  }

  /** Removes the outcome of a partition, if there is one. */
  public void remove(PartitionName name) {
    documents
        .get(key(name))
        .ifPresent(document -> documents.delete(document.key(), document.version()));
  }
}
