package io.millrace.store.kernel.state;

import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/** A node of an {@link OrderedTree}. */
abstract sealed class TreeNode<T> permits TreeLeaf, TreeBranch {
  /** The normal largest number of elements or children of a node. */
  static final int CAPACITY = 64;

  /** The number of its own elements or children. */
  int size;

  final long generation;

  TreeNode(long generation) {
    this.generation = generation;
  }

  /** This node if it is of the current generation, otherwise a copy of it. */
  abstract TreeNode<T> writable(long current);

  /** The number of elements at and below it. */
  abstract int count();

  /** Adds an element to a writable node; returns the new right neighbour if it had to split. */
  abstract @Nullable TreeNode<T> insert(
      T element, Comparator<? super T> order, CopyGeneration generation);

  /**
   * Removes the element equal to {@code probe} from a writable node; returns whether there was one.
   */
  abstract boolean remove(T probe, Comparator<? super T> order, CopyGeneration generation);

  abstract @Nullable T find(T probe, Comparator<? super T> order);

  abstract int rank(T probe, Comparator<? super T> order);

  abstract T select(int rank);

  /** The smallest element. The node must not be empty. */
  abstract T smallest();

  /** Appends the content of {@code right} to this writable node, which has room for it. */
  abstract void absorb(TreeNode<T> right, CopyGeneration generation);
}
