package io.millrace.store.kernel.state;

import java.util.AbstractList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Spliterator;
import java.util.function.Consumer;
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

  /** A view of the elements from one rank up to another one, which is not included. */
  List<T> range(int from, int to) {
    return new AbstractList<>() {
      @Override
      public T get(int index) {
        return root.select(from + Objects.checkIndex(index, size()));
      }

      @Override
      public int size() {
        return to - from;
      }

      @Override
      public Iterator<T> iterator() {
        return new Walk<>(root, from, to);
      }

      @Override
      public Spliterator<T> spliterator() {
        return new Part<>(root, from, to);
      }
    };
  }

  /** Iterates leaf by leaf, which is much faster than access by rank. */
  @Override
  public Iterator<T> iterator() {
    return new Walk<>(root, 0, size());
  }

  @Override
  public Spliterator<T> spliterator() {
    return new Part<>(root, 0, size());
  }

  /** Elements that several threads can divide among them without a copy. */
  private static final class Part<T> implements Spliterator<T> {
    /** The fewest elements that are divided. */
    private static final int FEWEST = 128;

    private final TreeNode<T> root;
    private int from;
    private final int to;
    private @Nullable Walk<T> walk;

    Part(TreeNode<T> root, int from, int to) {
      this.root = root;
      this.from = from;
      this.to = to;
    }

    @Override
    public @Nullable Spliterator<T> trySplit() {
      if (to - from < FEWEST || walk != null) {
        return null;
      }
      int begin = from;
      from = (begin + to) >>> 1;
      return new Part<>(root, begin, from);
    }

    @Override
    public boolean tryAdvance(Consumer<? super T> action) {
      if (from == to) {
        return false;
      }
      Walk<T> rest = rest();
      from++;
      action.accept(rest.next());
      return true;
    }

    @Override
    public void forEachRemaining(Consumer<? super T> action) {
      Walk<T> rest = rest();
      from = to;
      rest.forEachRemaining(action);
    }

    private Walk<T> rest() {
      Walk<T> rest = walk == null ? new Walk<>(root, from, to) : walk;
      walk = rest;
      return rest;
    }

    @Override
    public long estimateSize() {
      return (long) to - from;
    }

    @Override
    public int characteristics() {
      return ORDERED | IMMUTABLE | NONNULL | SIZED | SUBSIZED;
    }
  }

  private static final class Walk<T> implements Iterator<T> {
    private final TreeNode<T> root;
    private int next;
    private final int to;
    private TreeLeaf<T> leaf;
    private int index;

    Walk(TreeNode<T> root, int from, int to) {
      this.root = root;
      this.next = from;
      this.to = to;
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
      return next < to;
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

    @Override
    public void forEachRemaining(Consumer<? super T> action) {
      while (next < to) {
        if (index >= leaf.size) {
          leaf = leafAt(next);
        }
        int end = Math.min(leaf.size, index + to - next);
        next += end - index;
        for (TreeLeaf<T> each = leaf; index < end; index++) {
          action.accept(each.element(index));
        }
      }
    }
  }
}
