package io.millrace.cluster.lock;

import org.jspecify.annotations.Nullable;

/**
 * What stands in the document of a lock.
 *
 * @param holder the token of the member that holds it; empty for nobody
 * @param expireMillis when the holder's lease ends, by the holder's wall clock, in milliseconds
 *     since 1970; 0 once the lock was released or as long as nobody has held it
 * @param fence grows by one with each acquisition: the fencing token of the holder
 * @param charge what holding the lock is for, where it stands for a partition; null elsewhere
 */
public record LockDocument(
    String holder, long expireMillis, long fence, @Nullable PartitionTask charge) {
  /** Whether nobody holds it and nobody need wait. */
  public boolean isReleased() {
    return expireMillis == 0;
  }

  LockDocument taken(String token, long expireMillis, long fence) {
    return new LockDocument(token, expireMillis, fence, charge);
  }

  LockDocument renewed(long expireMillis) {
    return new LockDocument(holder, expireMillis, fence, charge);
  }

  LockDocument released() {
    return new LockDocument("", 0, fence, charge);
  }

  /** Released because what it is for is done; it goes on to say who did it. */
  LockDocument done() {
    return new LockDocument(holder, 0, fence, charge == null ? null : charge.done());
  }
}
