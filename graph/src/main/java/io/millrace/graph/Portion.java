package io.millrace.graph;

import java.util.ArrayList;
import java.util.List;

/**
 * How much goes into one transaction.
 *
 * @param documents the most documents
 * @param bytes the most bytes of them
 * @param documentBytes the most bytes of one that holds parts of others
 */
record Portion(int documents, int bytes, int documentBytes) {
  /** Well below what a store takes by default. */
  static final Portion DEFAULT = new Portion(4_000, 8 << 20, 512 << 10);

  boolean holds(List<Write> writes) {
    return writes.size() <= documents && writes.stream().mapToLong(Write::size).sum() <= bytes;
  }

  /** Parts that fit one by one, in order. */
  List<List<Write>> split(List<Write> writes) {
    return split(writes, bytes);
  }

  /** Documents from which all of these can be made again. */
  List<Write> pack(List<Write> writes) {
    // Names are written out, so they take more room than in a transaction.
    List<List<Write>> parts = split(writes, documentBytes / 2);
    List<Write> packed = new ArrayList<>(parts.size());
    for (List<Write> part : parts) {
      packed.add(new Write(Keys.pending(packed.size()), Write.pack(part)));
    }
    return packed;
  }

  private List<List<Write>> split(List<Write> writes, int most) {
    List<List<Write>> parts = new ArrayList<>();
    List<Write> part = new ArrayList<>();
    long size = 0;
    for (Write write : writes) {
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
