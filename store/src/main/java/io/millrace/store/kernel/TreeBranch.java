package io.millrace.store.kernel;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A node that holds other nodes with the smallest element and the count of each. */
final class TreeBranch<T> extends TreeNode<T> {
  private final @Nullable Object[] children;
  private final @Nullable Object[] smallest;
  private final int[] counts;
  private int total;

  private TreeBranch(
      long edition,
      @Nullable Object[] children,
      @Nullable Object[] smallest,
      int[] counts,
      int size,
      int total) {
    super(edition);
    this.children = children;
    this.smallest = smallest;
    this.counts = counts;
    this.size = size;
    this.total = total;
  }

  private TreeBranch(long edition) {
    this(edition, new Object[CAPACITY], new Object[CAPACITY], new int[CAPACITY], 0, 0);
  }

  TreeBranch(long edition, TreeNode<T> left, TreeNode<T> right) {
    this(edition);
    put(0, left);
    put(1, right);
  }

  @SuppressWarnings("unchecked") // only nodes of T are ever stored below size
  TreeNode<T> child(int index) {
    return (TreeNode<T>) Objects.requireNonNull(children[index]);
  }

  @SuppressWarnings("unchecked") // only elements of type T are ever stored below size
  private T smallestOf(int index) {
    return (T) Objects.requireNonNull(smallest[index]);
  }

  @Override
  TreeNode<T> writable(long current) {
    return edition == current
        ? this
        : new TreeBranch<>(
            current, children.clone(), smallest.clone(), counts.clone(), size, total);
  }

  @Override
  int count() {
    return total;
  }

  /** The child in which {@code probe} is or would be. */
  private int search(T probe, Comparator<? super T> order) {
    int low = 1;
    int high = size;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (order.compare(smallestOf(middle), probe) <= 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low - 1;
  }

  private void put(int index, TreeNode<T> child) {
    System.arraycopy(children, index, children, index + 1, size - index);
    System.arraycopy(smallest, index, smallest, index + 1, size - index);
    System.arraycopy(counts, index, counts, index + 1, size - index);
    children[index] = child;
    smallest[index] = child.smallest();
    counts[index] = child.count();
    total += counts[index];
    size++;
  }

  private void drop(int index) {
    total -= counts[index];
    System.arraycopy(children, index + 1, children, index, size - index - 1);
    System.arraycopy(smallest, index + 1, smallest, index, size - index - 1);
    System.arraycopy(counts, index + 1, counts, index, size - index - 1);
    size--;
    children[size] = null;
    smallest[size] = null;
  }

  private TreeNode<T> open(int index, long current) {
    TreeNode<T> child = child(index).writable(current);
    children[index] = child;
    return child;
  }

  private void refresh(int index, TreeNode<T> child) {
    total += child.count() - counts[index];
    counts[index] = child.count();
    smallest[index] = child.smallest();
  }

  @Override
  @Nullable TreeNode<T> insert(T element, Comparator<? super T> order, long current) {
    int index = search(element, order);
    TreeNode<T> child = open(index, current);
    TreeNode<T> right = child.insert(element, order, current);
    refresh(index, child);
    if (right == null) {
      return null;
    }
    if (size < CAPACITY) {
      put(index + 1, right);
      return null;
    }
    int kept = index + 1 == size ? size : size / 2;
    TreeBranch<T> sibling = split(kept, current);
    if (index + 1 <= kept && kept < CAPACITY) {
      put(index + 1, right);
    } else {
      sibling.put(index + 1 - kept, right);
    }
    return sibling;
  }

  private TreeBranch<T> split(int kept, long current) {
    TreeBranch<T> sibling = new TreeBranch<>(current);
    int moved = size - kept;
    System.arraycopy(children, kept, sibling.children, 0, moved);
    System.arraycopy(smallest, kept, sibling.smallest, 0, moved);
    System.arraycopy(counts, kept, sibling.counts, 0, moved);
    for (int i = 0; i < moved; i++) {
      sibling.total += sibling.counts[i];
    }
    sibling.size = moved;
    total -= sibling.total;
    Arrays.fill(children, kept, size, null);
    Arrays.fill(smallest, kept, size, null);
    size = kept;
    return sibling;
  }

  @Override
  void remove(T probe, Comparator<? super T> order, long current) {
    int index = search(probe, order);
    TreeNode<T> child = open(index, current);
    child.remove(probe, order, current);
    if (child.count() == 0) {
      drop(index);
      return;
    }
    refresh(index, child);
    if (child.size < SPARSE && size > 1) {
      int left = index > 0 ? index - 1 : index;
      if (child(left).size + child(left + 1).size <= CAPACITY - SPARSE) {
        TreeNode<T> joined = open(left, current);
        joined.absorb(child(left + 1));
        drop(left + 1);
        refresh(left, joined);
      }
    }
  }

  @Override
  @Nullable T find(T probe, Comparator<? super T> order) {
    return child(search(probe, order)).find(probe, order);
  }

  @Override
  int rank(T probe, Comparator<? super T> order) {
    int index = search(probe, order);
    int before = 0;
    for (int i = 0; i < index; i++) {
      before += counts[i];
    }
    return before + child(index).rank(probe, order);
  }

  @Override
  T select(int rank) {
    int rest = rank;
    for (int i = 0; i < size; i++) {
      if (rest < counts[i]) {
        return child(i).select(rest);
      }
      rest -= counts[i];
    }
    throw new IndexOutOfBoundsException(rank);
  }

  @Override
  T smallest() {
    return smallestOf(0);
  }

  @Override
  void absorb(TreeNode<T> right) {
    TreeBranch<T> branch = (TreeBranch<T>) right;
    System.arraycopy(branch.children, 0, children, size, branch.size);
    System.arraycopy(branch.smallest, 0, smallest, size, branch.size);
    System.arraycopy(branch.counts, 0, counts, size, branch.size);
    size += branch.size;
    total += branch.total;
  }
}
