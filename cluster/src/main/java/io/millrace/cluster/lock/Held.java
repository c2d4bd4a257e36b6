package io.millrace.cluster.lock;

import io.millrace.cluster.documents.Version;

/**
 * A lock as its holder knows it.
 *
 * @param key the lock's key
 * @param lock what the holder wrote
 * @param version the version that this gave
 * @param untilMillis when the holder stops to be one, by its monotonic clock
 * @param renewMillis when to renew it, by its monotonic clock
 */
public record Held(
    String key, LockDocument lock, Version version, long untilMillis, long renewMillis) {
  /** The fencing token. */
  public long fence() {
    return lock.fence();
  }
}
