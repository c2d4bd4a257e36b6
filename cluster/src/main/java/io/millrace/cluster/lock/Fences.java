package io.millrace.cluster.lock;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.DocumentsUnavailableException;
import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Gives out blocks of fences. The document {@value #KEY} holds the first fence that no block has;
 * each block goes to one document of a lock, which uses it one by one and asks for another when it
 * is used up. So no fence is ever given twice, and a lock that is made again begins above all that
 * it had before. Blocks that nobody came to use are lost.
 */
final class Fences {
  static final String KEY = "fences";

  /** Fences of a block; the first of them is never given to a holder. */
  static final long BLOCK = 1000;

  private static final Logger LOG = LoggerFactory.getLogger(Fences.class);
  private static final JsonMapper MAPPER = JsonMapper.builder().build();
  private static final int ATTEMPTS = 100;

  private final VersionedDocuments documents;

  Fences(VersionedDocuments documents) {
    this.documents = documents;
  }

  /**
   * The fence that follows another in the use of one lock: the next one, or the first of a new
   * block where that is used up.
   */
  long after(long fence) {
    return (fence + 1) % BLOCK == 0 ? reserve(1) + 1 : fence + 1;
  }

  /**
   * Reserves blocks that lie one after the other.
   *
   * @return the first fence of the first block
   * @throws DocumentsUnavailableException where it cannot be had now
   */
  long reserve(int blocks) {
    for (int i = 0; i < ATTEMPTS; i++) {
      Optional<VersionedDocument> document = documents.get(KEY);
      long first = document.isEmpty() ? aboveAll() : read(document.get());
      Version expected = document.map(VersionedDocument::version).orElse(Version.NONE);
      try {
        if (documents
            .put(KEY, expected, "{\"fence\":" + (first + blocks * BLOCK) + "}")
            .isPresent()) {
          return first;
        }
      } catch (UnclearOutcomeException e) {
        // What another member writes looks the same, so there is no telling: take the next ones.
        LOG.debug("Blocks from {} on may be lost", first, e);
      }
    }
    throw new DocumentsUnavailableException(
        "no fences could be reserved in " + ATTEMPTS + " attempts");
  }

  /** Where the document is missing: the end of the highest block that any lock uses. */
  private long aboveAll() {
    long most = -1;
    for (VersionedDocument document : documents.list("")) {
      most = Math.max(most, read(document));
    }
    return (Math.floorDiv(most, BLOCK) + 1) * BLOCK;
  }

  private static long read(VersionedDocument document) {
    try {
      return MAPPER.readTree(document.json()).path("fence").asLong(-1);
    } catch (JacksonException e) {
      throw new ClusterException(
          "document " + document.key() + " is damaged: " + e.getOriginalMessage(), e);
    }
  }
}
