package io.millrace.cluster.shared;

import io.millrace.cluster.lock.Guard;

/** Proof that one permit of a semaphore is held. Safe for use by any number of threads. */
public interface Permit extends Guard {
  /** The number of the permit, from 1 to the number of permits; no other holder has the same. */
  int number();

  /** The fencing token, larger than that of every earlier holder of the same permit. */
  @Override
  long fence();
}
