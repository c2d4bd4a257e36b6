package io.millrace.store.kernel;

import java.util.Comparator;

/**
 * The keys of the smallest elements of a branch's children, each at its child's index. A tree's
 * columns are all of one kind, which knows the tree's order.
 *
 * @param <T> the elements of the tree
 */
abstract class KeyColumn<T> {
  /** An empty column of the same kind for so many keys. */
  abstract KeyColumn<T> fresh(int capacity);

  /** A column with the same keys. */
  abstract KeyColumn<T> copy();

  /** Compares the key at {@code index} with that of an element, as a {@link Comparator} does. */
  abstract int compare(int index, T probe);

  /** Puts an element's key at {@code index}. */
  abstract void set(int index, T element);

  /** Copies {@code count} keys of a column of this kind, which may be this one, to {@code to}. */
  abstract void copy(KeyColumn<T> source, int from, int to, int count);

  /** Forgets the keys from one index to before another. */
  abstract void clear(int from, int to);

  /** The child of {@code size}, at least 1, in which {@code probe} is or would be. */
  int search(T probe, int size) {
    int low = 1;
    int high = size;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (compare(middle, probe) <= 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low - 1;
  }
}
