package io.millrace.store.kernel.state;

import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * An ordered set that knows ranks and freezes for free: a B+ tree with counts whose nodes are
 * copied at their first change after a freeze.
 *
 * <p>Insert, remove, lookup and access by rank take logarithmic time and never more than one node's
 * copy at each level, so it grows without stalls. Not safe for use by several threads; what {@link
 * #freeze} gives is.
 *
 * @param <T> the elements, distinct under the comparator
 */
final class OrderedTree<T> {
  private final Comparator<? super T> order;
  private final KeyColumn<T> keys;
  private final CopyGeneration generation;
  private TreeNode<T> root;

  OrderedTree(Comparator<? super T> order, CopyGeneration generation) {
    this(order, new KeyColumn.Elements<>(order, 0), generation);
  }

  /**
   * A tree whose branches keep their keys in a column of their own kind.
   *
   * @param keys a column of that kind, in the same order as {@code order}; its room does not matter
   */
  OrderedTree(Comparator<? super T> order, KeyColumn<T> keys, CopyGeneration generation) {
    this(order, keys, generation, new TreeLeaf<>(generation.current()));
  }

  private OrderedTree(
      Comparator<? super T> order, KeyColumn<T> keys, CopyGeneration generation, TreeNode<T> root) {
    this.order = order;
    this.keys = keys;
    this.generation = generation;
    this.root = root;
  }

  /** A tree that shares all nodes; both may go on changing once the generation has moved on. */
  OrderedTree<T> copy() {
    return new OrderedTree<>(order, keys, generation, root);
  }

  /** What the tree holds now. The caller must move the generation on before the next change. */
  FrozenTree<T> freeze() {
    return new FrozenTree<>(root);
  }

  int size() {
    return root.count();
  }

  boolean isEmpty() {
    return root.count() == 0;
  }

  /** Adds an element; does nothing if an equal one is there. */
  void insert(T element) {
    root = root.writable(generation.current());
    TreeNode<T> right = root.insert(element, order, generation);
    if (right != null) {
      root = new TreeBranch<>(generation, keys, root, right);
    }
  }

  /** Removes the element equal to {@code probe}; tells whether there was one. */
  boolean remove(T probe) {
    root = root.writable(generation.current());
    boolean removed = root.remove(probe, order, generation);
    while (root instanceof TreeBranch<T> branch && branch.size == 1) {
      root = branch.child(0);
    }
    return removed;
  }

  /** Puts {@code element} in the place of the equal one, or adds it. */
  void replace(T element) {
    remove(element);
    insert(element);
  }

  /** The element equal to {@code probe}, or null. */
  @Nullable T find(T probe) {
    return root.find(probe, order);
  }

  /** The element with {@code rank} smaller ones, 0 to size - 1. */
  T select(int rank) {
    return root.select(rank);
  }

  /** How many elements are smaller than {@code probe}. */
  int rank(T probe) {
    return root.rank(probe, order);
  }

  T first() {
    return root.select(0);
  }

  T last() {
    return root.select(root.count() - 1);
  }
}
