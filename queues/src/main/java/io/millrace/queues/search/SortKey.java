package io.millrace.queues.search;

/**
 * One field to sort by.
 *
 * @param path where it is
 * @param descending whether the greatest comes first
 */
record SortKey(FieldPath path, boolean descending) {
  boolean isId() {
    return path.dotted().equals("_id");
  }
}
