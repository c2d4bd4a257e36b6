package io.millrace.store.kernel.state;

/**
 * The number of the current generation. Only nodes of this generation, which were created since the
 * last freeze, may be changed in place.
 *
 * <p>To freeze a structure, take its roots and call {@link #next}. After that, the first change of
 * each node copies it, so the frozen roots do not change, and freezing itself costs nothing.
 */
final class CopyGeneration {
  private final int capacity;
  private long current = 1;

  /** The first generation of a structure with nodes of the usual size. */
  CopyGeneration() {
    this(TreeNode.CAPACITY);
  }

  /**
   * The first generation of a structure.
   *
   * @param capacity the largest number of elements or children of a node, at least 4
   */
  CopyGeneration(int capacity) {
    if (capacity < 4) {
      throw new IllegalArgumentException("a node of at most " + capacity + " elements, at least 4");
    }
    this.capacity = capacity;
  }

  /** The largest number of elements or children of a node. */
  int capacity() {
    return capacity;
  }

  /** A node with fewer elements is joined with its neighbor if both fit into one. */
  int sparse() {
    return capacity / 4;
  }

  long current() {
    return current;
  }

  void next() {
    current++;
  }
}
