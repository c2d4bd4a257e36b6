package io.millrace.cluster.lock;

import io.millrace.cluster.documents.DocumentJson;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.Optional;

/**
 * Allocates fences in blocks. The document {@value #KEY} holds the first fence that is in no block
 * yet; each block goes to one document of a lock, which uses its fences one by one and asks for
 * another block when they are used up. So no fence is given twice, and a lock whose document was
 * deleted and created again begins above all earlier fences. Blocks that are not used are lost.
 */
final class FenceAllocator {
  static final String KEY = "fences";

  /** The fences of a block; the first of them is never given to a holder. */
  static final long BLOCK = 1000;

  private final VersionedDocuments documents;

  FenceAllocator(VersionedDocuments documents) {
    this.documents = documents;
  }

  /**
   * The fence that follows another one of the same lock: the next one, or the first of a new block
   * if the block is used up.
   */
  long after(long fence) {
    return (fence + 1) % BLOCK == 0 ? reserve(1) + 1 : fence + 1;
  }

  /**
   * Reserves adjoining blocks. If the outcome of a write is unclear its blocks are lost, because a
   * write by another member looks the same.
   *
   * @return the first fence of the first block
   */
  long reserve(int blocks) {
    VersionedDocument written = documents.update(KEY, found -> next(found, blocks)).orElseThrow();
    return read(written) - blocks * BLOCK;
  }

  private Optional<String> next(Optional<VersionedDocument> found, int blocks) {
    long first = found.isPresent() ? read(found.get()) : aboveAll();
    return Optional.of("{\"fence\":" + (first + blocks * BLOCK) + "}");
  }

  /** The end of the highest block that any lock uses; needed if the document was lost. */
  private long aboveAll() {
    long max = -1;
    for (VersionedDocument document : documents.list("")) {
      max = Math.max(max, read(document));
    }
    return (Math.floorDiv(max, BLOCK) + 1) * BLOCK;
  }

  private static long read(VersionedDocument document) {
    return DocumentJson.read(document, "is damaged", json -> json.path("fence").asLong(-1));
  }
}
