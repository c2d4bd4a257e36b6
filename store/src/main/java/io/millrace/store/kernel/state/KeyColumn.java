package io.millrace.store.kernel.state;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The keys of the smallest elements of a branch's children, each at the index of the child. All
 * columns of a tree are of one kind, which implements the order of the tree.
 *
 * @param <T> the elements of the tree
 */
abstract class KeyColumn<T> {
  /** An empty column of the same kind, with this capacity. */
  abstract KeyColumn<T> fresh(int capacity);

  /** A column with the same keys. */
  abstract KeyColumn<T> copy();

  /** Compares the key at {@code index} with that of an element, as a {@link Comparator} does. */
  abstract int compare(int index, T probe);

  /** Sets the key at {@code index} to that of an element. */
  abstract void set(int index, T element);

  /** Copies {@code count} keys of a column of this kind, possibly this one, to {@code to}. */
  abstract void copy(KeyColumn<T> source, int from, int to, int count);

  /** Clears the keys from one index, inclusive, to another, exclusive. */
  abstract void clear(int from, int to);

  /** The index of the child, of {@code size} children, in which {@code probe} is or would be. */
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

  /** A column that keeps the elements themselves. */
  static final class Elements<T> extends KeyColumn<T> {
    private final Comparator<? super T> order;
    private final @Nullable Object[] elements;

    /** An empty column with this capacity. */
    Elements(Comparator<? super T> order, int capacity) {
      this(order, new Object[capacity]);
    }

    private Elements(Comparator<? super T> order, @Nullable Object[] elements) {
      this.order = order;
      this.elements = elements;
    }

    @Override
    KeyColumn<T> fresh(int capacity) {
      return new Elements<>(order, capacity);
    }

    @Override
    KeyColumn<T> copy() {
      return new Elements<>(order, elements.clone());
    }

    @Override
    @SuppressWarnings("unchecked") // only elements of type T are ever set
    int compare(int index, T probe) {
      return order.compare((T) Objects.requireNonNull(elements[index]), probe);
    }

    @Override
    void set(int index, T element) {
      elements[index] = element;
    }

    @Override
    void copy(KeyColumn<T> source, int from, int to, int count) {
      System.arraycopy(((Elements<T>) source).elements, from, elements, to, count);
    }

    @Override
    void clear(int from, int to) {
      Arrays.fill(elements, from, to, null);
    }
  }
}
