package io.millrace.store.kernel.state;

import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * A sorted set with access by rank that can be frozen at no cost: a copy-on-write B+ tree with
 * counts.
 *
 * <p>Insert, remove, lookup and access by rank take logarithmic time, and copy at most one node at
 * each level, so it grows without stalls. Not thread-safe; the result of {@link #freeze} is.
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
   * A tree with another kind of key columns.
   *
   * @param keys a column of that kind, with the same order as {@code order}; its capacity is not
   *     used
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

  /** A tree that shares all nodes. Both may be changed after the next generation has begun. */
  OrderedTree<T> copy() {
    return new OrderedTree<>(order, keys, generation, root);
  }

  /** The current content. The caller must begin the next generation before the next change. */
  FrozenTree<T> freeze() {
    return new FrozenTree<>(root);
  }

  int size() {
    return root.count();
  }

  boolean isEmpty() {
    return root.count() == 0;
  }

  /** Adds an element, unless there is an equal one. */
  void insert(T element) {
    root = root.writable(generation.current());
    TreeNode<T> right = root.insert(element, order, generation);
    if (right != null) {
      root = new TreeBranch<>(generation, keys, root, right);
    }
  }

  /** Removes the element equal to {@code probe}; returns whether there was one. */
  boolean remove(T probe) {
    root = root.writable(generation.current());
    boolean removed = root.remove(probe, order, generation);
    while (root instanceof TreeBranch<T> branch && branch.size == 1) {
      root = branch.child(0);
    }
    return removed;
  }

  /** Replaces the element equal to {@code element}, or adds it. */
  void replace(T element) {
    remove(element);
    insert(element);
  }

  /** The element equal to {@code probe}, or null. */
  @Nullable T find(T probe) {
    return root.find(probe, order);
  }

  /** The element with this rank, from 0 to size - 1. */
  T select(int rank) {
    return root.select(rank);
  }

  /** The number of elements smaller than {@code probe}. */
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
