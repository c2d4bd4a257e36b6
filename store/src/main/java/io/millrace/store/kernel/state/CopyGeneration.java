package io.millrace.store.kernel.state;

/**
 * The number that tells which nodes may be changed in place: those made since the last freeze.
 *
 * <p>To freeze a structure, take its roots and call {@link #next}. From then on the first change of
 * each node copies it, so the frozen roots stay as they were and cost nothing up front.
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
   * @param capacity the most elements or children of a node, at least 4
   */
  CopyGeneration(int capacity) {
    if (capacity < 4) {
      throw new IllegalArgumentException("a node of at most " + capacity + " elements, at least 4");
    }
    this.capacity = capacity;
  }

  /** The most elements or children of a node. */
  int capacity() {
    return capacity;
  }

  /** With fewer, a node is joined with its neighbor if both fit into one. */
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
