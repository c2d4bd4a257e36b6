package io.millrace.store.kernel;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A column that keeps the elements themselves. */
final class ElementColumn<T> extends KeyColumn<T> {
  private final Comparator<? super T> order;
  private final @Nullable Object[] elements;

  /** A column for so many keys. */
  ElementColumn(Comparator<? super T> order, int capacity) {
    this(order, new Object[capacity]);
  }

  private ElementColumn(Comparator<? super T> order, @Nullable Object[] elements) {
    this.order = order;
    this.elements = elements;
  }

  @Override
  KeyColumn<T> fresh(int capacity) {
    return new ElementColumn<>(order, capacity);
  }

  @Override
  KeyColumn<T> copy() {
    return new ElementColumn<>(order, elements.clone());
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
    System.arraycopy(((ElementColumn<T>) source).elements, from, elements, to, count);
  }

  @Override
  void clear(int from, int to) {
    Arrays.fill(elements, from, to, null);
  }
}
