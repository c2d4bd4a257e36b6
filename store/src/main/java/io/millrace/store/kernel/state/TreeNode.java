package io.millrace.store.kernel.state;

import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/** A node of an {@link OrderedTree}. */
abstract sealed class TreeNode<T> permits TreeLeaf, TreeBranch {
  /** The most elements or children of a node, unless a simulation wants deeper trees. */
  static final int CAPACITY = 64;

  /** How many elements or children it has itself. */
  int size;

  final long generation;

  TreeNode(long generation) {
    this.generation = generation;
  }

  /** This node if it was made in the current generation, otherwise a copy of it. */
  abstract TreeNode<T> writable(long current);

  /** The number of elements at and below it. */
  abstract int count();

  /** Adds an element to a writable node; returns the new right neighbour if it had to split. */
  abstract @Nullable TreeNode<T> insert(
      T element, Comparator<? super T> order, CopyGeneration generation);

  /**
   * Removes the element equal to {@code probe} from a writable node; tells whether it was there.
   */
  abstract boolean remove(T probe, Comparator<? super T> order, CopyGeneration generation);

  abstract @Nullable T find(T probe, Comparator<? super T> order);

  abstract int rank(T probe, Comparator<? super T> order);

  abstract T select(int rank);

  /** The smallest element; the node is not empty. */
  abstract T smallest();

  /** Moves all that {@code right} holds to the end of this writable node, for which it has room. */
  abstract void absorb(TreeNode<T> right, CopyGeneration generation);
}
