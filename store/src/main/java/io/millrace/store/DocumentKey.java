package io.millrace.store;

import java.util.Comparator;

/**
 * The name of a document. Ordered by collection, then key, by UTF-16 code units.
 *
 * @param collection 1 to 512 bytes of UTF-8
 * @param key 1 to 512 bytes of UTF-8, unique in its collection
 */
public record DocumentKey(String collection, String key) implements Comparable<DocumentKey> {
  private static final Comparator<DocumentKey> ORDER =
      Comparator.comparing(DocumentKey::collection).thenComparing(DocumentKey::key);

  @Override
  public int compareTo(DocumentKey other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return "document " + collection + "/" + key;
  }
}
