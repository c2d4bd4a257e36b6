package io.millrace.store;

/**
 * The name of a document. Keys are ordered by collection, then by key, in order of UTF-16 code
 * units.
 *
 * @param collection 1 to 512 bytes of UTF-8
 * @param key 1 to 512 bytes of UTF-8, unique in its collection
 */
public record DocumentKey(String collection, String key) implements Comparable<DocumentKey> {
  @Override
  public int compareTo(DocumentKey other) {
    int byCollection = collection.compareTo(other.collection);
    return byCollection != 0 ? byCollection : key.compareTo(other.key);
  }

  @Override
  public String toString() {
    return "document " + collection + "/" + key;
  }
}
