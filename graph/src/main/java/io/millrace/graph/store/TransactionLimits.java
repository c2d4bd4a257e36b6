package io.millrace.graph.store;

import java.util.ArrayList;
import java.util.List;

/**
 * How much goes into one transaction.
 *
 * @param documents the most documents
 * @param bytes the most bytes of them
 * @param documentBytes the most bytes of one that holds parts of others
 */
record TransactionLimits(int documents, int bytes, int documentBytes) {
  /** Well below what a store takes by default. */
  static final TransactionLimits DEFAULT = new TransactionLimits(4_000, 8 << 20, 512 << 10);

  boolean holds(List<DocumentWrite> writes) {
    return writes.size() <= documents
        && writes.stream().mapToLong(DocumentWrite::size).sum() <= bytes;
  }

  /** Parts that fit one by one, in order. */
  List<List<DocumentWrite>> split(List<DocumentWrite> writes) {
    return split(writes, bytes);
  }

  /** Documents from which all of these can be made again. */
  List<DocumentWrite> pack(List<DocumentWrite> writes) {
    // Names are written out, so they take more room than in a transaction.
    List<List<DocumentWrite>> parts = split(writes, documentBytes / 2);
    List<DocumentWrite> packed = new ArrayList<>(parts.size());
    for (List<DocumentWrite> part : parts) {
      packed.add(new DocumentWrite(Keys.pending(packed.size()), DocumentWrite.pack(part)));
    }
    return packed;
  }

  private List<List<DocumentWrite>> split(List<DocumentWrite> writes, int most) {
    List<List<DocumentWrite>> parts = new ArrayList<>();
    List<DocumentWrite> part = new ArrayList<>();
    long size = 0;
    for (DocumentWrite write : writes) {
      if (!part.isEmpty() && (part.size() == documents || size + write.size() > most)) {
        parts.add(part);
        part = new ArrayList<>();
        size = 0;
      }
      part.add(write);
      size += write.size();
    }
    if (!part.isEmpty()) {
      parts.add(part);
    }
    return parts;
  }
}
