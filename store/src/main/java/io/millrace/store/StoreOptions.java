package io.millrace.store;

import io.millrace.store.environment.Environment;
import java.nio.file.Path;

/**
 * How to open a store in this process.
 *
 * @param folder where its files lie; created where it is absent, and locked while open
 * @param journaling when it answers; strict by default
 * @param snapshotEvery after how many commits a new snapshot is begun; default 1,000,000
 * @param limits what it refuses
 * @param environment its clocks, randomness, disk and threads; this machine's by default
 */
public record StoreOptions(
    Path folder,
    Journaling journaling,
    long snapshotEvery,
    Limits limits,
    Environment environment) {

  /** Rejects values that make no sense. */
  public StoreOptions {
    if (snapshotEvery < 1) {
      throw new IllegalArgumentException("snapshotEvery must be at least 1, not " + snapshotEvery);
    }
  }

  /** A strict store with the defaults. */
  public static StoreOptions in(Path folder) {
    return new StoreOptions(
        folder, Journaling.STRICT, 1_000_000, Limits.defaults(), Environment.system());
  }

  /** The same with other journaling. */
  public StoreOptions withJournaling(Journaling journaling) {
    return new StoreOptions(folder, journaling, snapshotEvery, limits, environment);
  }

  /** The same with a snapshot after this many commits. */
  public StoreOptions withSnapshotEvery(long commits) {
    return new StoreOptions(folder, journaling, commits, limits, environment);
  }

  /** The same with other limits. */
  public StoreOptions withLimits(Limits limits) {
    return new StoreOptions(folder, journaling, snapshotEvery, limits, environment);
  }

  /** The same in another environment. */
  public StoreOptions withEnvironment(Environment environment) {
    return new StoreOptions(folder, journaling, snapshotEvery, limits, environment);
  }
}
