package io.millrace.store.kernel.state;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** An inner node: its children, with the smallest key and the count of each. */
final class TreeBranch<T> extends TreeNode<T> {
  private final @Nullable Object[] children;
  private final KeyColumn<T> keys;
  private final int[] counts;
  private int total;

  private TreeBranch(
      long generation, @Nullable Object[] children, KeyColumn<T> keys, int[] counts) {
    super(generation);
    this.children = children;
    this.keys = keys;
    this.counts = counts;
  }

  private TreeBranch(CopyGeneration generation, KeyColumn<T> kind) {
    this(
        generation.current(),
        new Object[generation.capacity()],
        kind.fresh(generation.capacity()),
        new int[generation.capacity()]);
  }

  /** A branch over two nodes, with its keys in a column of the same kind as {@code kind}. */
  TreeBranch(CopyGeneration generation, KeyColumn<T> kind, TreeNode<T> left, TreeNode<T> right) {
    this(generation, kind);
    put(0, left);
    put(1, right);
  }

  @SuppressWarnings("unchecked") // only nodes of T are ever stored below size
  TreeNode<T> child(int index) {
    return (TreeNode<T>) Objects.requireNonNull(children[index]);
  }

  @Override
  TreeNode<T> writable(long current) {
    if (generation == current) {
      return this;
    }
    TreeBranch<T> copy = new TreeBranch<>(current, children.clone(), keys.copy(), counts.clone());
    copy.size = size;
    copy.total = total;
    return copy;
  }

  @Override
  int count() {
    return total;
  }

  private void put(int index, TreeNode<T> child) {
    System.arraycopy(children, index, children, index + 1, size - index);
    keys.copy(keys, index, index + 1, size - index);
    System.arraycopy(counts, index, counts, index + 1, size - index);
    children[index] = child;
    keys.set(index, child.smallest());
    counts[index] = child.count();
    total += counts[index];
    size++;
  }

  private void drop(int index) {
    total -= counts[index];
    System.arraycopy(children, index + 1, children, index, size - index - 1);
    keys.copy(keys, index + 1, index, size - index - 1);
    System.arraycopy(counts, index + 1, counts, index, size - index - 1);
    size--;
    children[size] = null;
    keys.clear(size, size + 1);
  }

  private TreeNode<T> open(int index, long current) {
    TreeNode<T> child = child(index).writable(current);
    children[index] = child;
    return child;
  }

  private void recount(int index, TreeNode<T> child) {
    total += child.count() - counts[index];
    counts[index] = child.count();
  }

  @Override
  @Nullable TreeNode<T> insert(T element, Comparator<? super T> order, CopyGeneration generation) {
    // Increasing sequences, such as ids, all go to the last child.
    int last = size - 1;
    int index = keys.compare(last, element) <= 0 ? last : keys.search(element, size);
    if (keys.compare(index, element) > 0) {
      keys.set(index, element);
    }
    TreeNode<T> child = open(index, generation.current());
    TreeNode<T> right = child.insert(element, order, generation);
    recount(index, child);
    if (right == null) {
      return null;
    }
    if (size < generation.capacity()) {
      put(index + 1, right);
      return null;
    }
    int kept = index + 1 == size ? size : size / 2;
    TreeBranch<T> sibling = split(kept, generation);
    if (index + 1 <= kept && kept < generation.capacity()) {
      put(index + 1, right);
    } else {
      sibling.put(index + 1 - kept, right);
    }
    return sibling;
  }

  private TreeBranch<T> split(int kept, CopyGeneration generation) {
    TreeBranch<T> sibling = new TreeBranch<>(generation, keys);
    int moved = size - kept;
    System.arraycopy(children, kept, sibling.children, 0, moved);
    sibling.keys.copy(keys, kept, 0, moved);
    System.arraycopy(counts, kept, sibling.counts, 0, moved);
    for (int i = 0; i < moved; i++) {
      sibling.total += sibling.counts[i];
    }
    sibling.size = moved;
    total -= sibling.total;
    Arrays.fill(children, kept, size, null);
    keys.clear(kept, size);
    size = kept;
    return sibling;
  }

  @Override
  boolean remove(T probe, Comparator<? super T> order, CopyGeneration generation) {
    int index = keys.search(probe, size);
    boolean smallest = keys.compare(index, probe) == 0;
    TreeNode<T> child = open(index, generation.current());
    if (!child.remove(probe, order, generation)) {
      return false;
    }
    if (child.count() == 0) {
      drop(index);
      return true;
    }
    recount(index, child);
    if (smallest) {
      keys.set(index, child.smallest());
    }
    if (child.size < generation.sparse() && size > 1) {
      join(index > 0 ? index - 1 : index, generation);
    }
    return true;
  }

  /** Joins a child with the next if they fit into one node. */
  private void join(int left, CopyGeneration generation) {
    if (child(left).size + child(left + 1).size <= generation.capacity() - generation.sparse()) {
      TreeNode<T> joined = open(left, generation.current());
      joined.absorb(child(left + 1), generation);
      drop(left + 1);
      recount(left, joined);
    }
  }

  @Override
  @Nullable T find(T probe, Comparator<? super T> order) {
    return child(keys.search(probe, size)).find(probe, order);
  }

  @Override
  int rank(T probe, Comparator<? super T> order) {
    int index = keys.search(probe, size);
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
    return child(0).smallest();
  }

  @Override
  void absorb(TreeNode<T> right, CopyGeneration generation) {
    TreeBranch<T> branch = (TreeBranch<T>) right;
    System.arraycopy(branch.children, 0, children, size, branch.size);
    keys.copy(branch.keys, 0, size, branch.size);
    System.arraycopy(branch.counts, 0, counts, size, branch.size);
    size += branch.size;
    total += branch.total;
  }
}
