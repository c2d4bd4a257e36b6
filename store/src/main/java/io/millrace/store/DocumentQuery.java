package io.millrace.store;

/**
 * Which documents of a collection to list, by key in order of UTF-16 code units.
 *
 * @param collection the collection's name; an unknown one lists nothing
 * @param prefix what the keys begin with; empty for all
 * @param after only keys greater than this; empty for all
 * @param limit the most documents to list, 0 for no limit
 */
public record DocumentQuery(String collection, String prefix, String after, int limit) {
  /** All documents of a collection whose keys begin with {@code prefix}. */
  public static DocumentQuery prefix(String collection, String prefix) {
    return new DocumentQuery(collection, prefix, "", 0);
  }
}
