package io.millrace.store.kernel.state;

import java.util.AbstractList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The content of an {@link OrderedTree} at one moment, as a sorted list. Immutable. */
public final class FrozenTree<T> extends AbstractList<T> {
  private final TreeNode<T> root;

  FrozenTree(TreeNode<T> root) {
    this.root = root;
  }

  @Override
  public T get(int rank) {
    if (rank < 0) {
      throw new IndexOutOfBoundsException(rank);
    }
    return root.select(rank);
  }

  @Override
  public int size() {
    return root.count();
  }

  /** The element equal to {@code probe} in the order of the tree, or null. */
  @Nullable T find(T probe, Comparator<? super T> order) {
    return root.find(probe, order);
  }

  /** The number of elements at the beginning for which {@code before} is true. */
  int rank(Predicate<? super T> before) {
    int low = 0;
    int high = size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (before.test(get(middle))) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** The elements from this rank on. */
  Iterator<T> from(int rank) {
    return new Walk<>(root, rank);
  }

  /** Iterates leaf by leaf, which is much faster than access by rank. */
  @Override
  public Iterator<T> iterator() {
    return new Walk<>(root, 0);
  }

  private static final class Walk<T> implements Iterator<T> {
    private final TreeNode<T> root;
    private int next;
    private TreeLeaf<T> leaf;
    private int index;

    Walk(TreeNode<T> root, int from) {
      this.root = root;
      this.next = from;
      this.leaf = leafAt(from);
    }

    private TreeLeaf<T> leafAt(int rank) {
      TreeNode<T> node = root;
      int rest = rank;
      while (node instanceof TreeBranch<T> branch) {
        int i = 0;
        while (i < branch.size - 1 && rest >= branch.child(i).count()) {
          rest -= branch.child(i).count();
          i++;
        }
        node = branch.child(i);
      }
      index = rest;
      return (TreeLeaf<T>) node;
    }

    @Override
    public boolean hasNext() {
      return next < root.count();
    }

    @Override
    public T next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      if (index >= leaf.size) {
        leaf = leafAt(next);
      }
      next++;
      return leaf.element(index++);
    }
  }
}
