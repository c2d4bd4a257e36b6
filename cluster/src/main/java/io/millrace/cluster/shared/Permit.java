package io.millrace.cluster.shared;

import io.millrace.cluster.lock.Guard;

/** Proof that one permit of a semaphore is held. Safe for use by any number of threads. */
public interface Permit extends Guard {
  /** Which permit it is, from 1 to the number of permits; nobody else has the same meanwhile. */
  int number();

  /** The fencing token, larger than that of every earlier holder of the same permit. */
  @Override
  long fence();
}
