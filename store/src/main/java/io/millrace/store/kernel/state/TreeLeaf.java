package io.millrace.store.kernel.state;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A leaf: elements in order. */
final class TreeLeaf<T> extends TreeNode<T> {
  private static final int SMALLEST = 4;

  private @Nullable Object[] elements;

  TreeLeaf(long generation) {
    this(generation, new Object[SMALLEST], 0);
  }

  private TreeLeaf(long generation, @Nullable Object[] elements, int size) {
    super(generation);
    this.elements = elements;
    this.size = size;
  }

  /** The element at {@code index}; the cast is safe, because only elements of type T are added. */
  @SuppressWarnings("unchecked") // only elements of type T are ever stored below size
  T element(int index) {
    return (T) Objects.requireNonNull(elements[index]);
  }

  @Override
  TreeNode<T> writable(long current) {
    return generation == current ? this : new TreeLeaf<>(current, elements.clone(), size);
  }

  @Override
  int count() {
    return size;
  }

  private int search(T probe, Comparator<? super T> order) {
    int low = 0;
    int high = size;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (order.compare(element(middle), probe) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private boolean holds(int index, T probe, Comparator<? super T> order) {
    return index < size && order.compare(element(index), probe) == 0;
  }

  @Override
  @Nullable TreeNode<T> insert(T element, Comparator<? super T> order, CopyGeneration generation) {
    boolean largest = size > 0 && order.compare(element(size - 1), element) < 0;
    int index = largest ? size : search(element, order);
    if (holds(index, element, order)) {
      return null;
    }
    int capacity = generation.capacity();
    if (size < capacity) {
      put(index, element, capacity);
      return null;
    }
    // After an append this leaf stays full, so that increasing sequences fill their leaves.
    int kept = index == size ? size : size / 2;
    TreeLeaf<T> right = new TreeLeaf<>(generation.current(), new Object[capacity], size - kept);
    System.arraycopy(elements, kept, right.elements, 0, size - kept);
    Arrays.fill(elements, kept, size, null);
    size = kept;
    if (index <= kept && kept < capacity) {
      put(index, element, capacity);
    } else {
      right.put(index - kept, element, capacity);
    }
    return right;
  }

  private void put(int index, T element, int capacity) {
    if (size == elements.length) {
      elements = Arrays.copyOf(elements, Math.min(capacity, size * 2));
    }
    System.arraycopy(elements, index, elements, index + 1, size - index);
    elements[index] = element;
    size++;
  }

  @Override
  boolean remove(T probe, Comparator<? super T> order, CopyGeneration generation) {
    int index = indexOf(probe, order);
    if (index < 0) {
      return false;
    }
    System.arraycopy(elements, index + 1, elements, index, size - index - 1);
    elements[--size] = null;
    return true;
  }

  /**
   * The index of {@code probe}, or -1. Usually the probe is the element itself: a search by
   * identity does not access the other elements, which lie anywhere in memory.
   */
  @SuppressWarnings("ReferenceEquality") // equality would look at the others
  private int indexOf(T probe, Comparator<? super T> order) {
    for (int i = 0; i < size; i++) {
      if (elements[i] == probe) {
        return i;
      }
    }
    int index = search(probe, order);
    return holds(index, probe, order) ? index : -1;
  }

  @Override
  @Nullable T find(T probe, Comparator<? super T> order) {
    int index = search(probe, order);
    return holds(index, probe, order) ? element(index) : null;
  }

  @Override
  int rank(T probe, Comparator<? super T> order) {
    return search(probe, order);
  }

  @Override
  T select(int rank) {
    if (rank >= size) {
      throw new IndexOutOfBoundsException(rank);
    }
    return element(rank);
  }

  @Override
  T smallest() {
    return element(0);
  }

  @Override
  void absorb(TreeNode<T> right, CopyGeneration generation) {
    TreeLeaf<T> leaf = (TreeLeaf<T>) right;
    if (elements.length < size + leaf.size) {
      elements = Arrays.copyOf(elements, generation.capacity());
    }
    System.arraycopy(leaf.elements, 0, elements, size, leaf.size);
    size += leaf.size;
  }
}
