package io.millrace.store.kernel;

/**
 * The number that tells which nodes may be changed in place: those made since the last freeze.
 *
 * <p>Whoever freezes a structure takes its roots and calls {@link #next}; from then on the first
 * change of each node copies it, so the frozen roots stay as they were and cost nothing up front.
 */
final class Edition {
  private long current = 1;

  long current() {
    return current;
  }

  void next() {
    current++;
  }
}
