package io.millrace.store;

import io.millrace.store.environment.Environment;
import java.nio.file.Path;

/**
 * How to open a store in this process.
 *
 * @param folder the folder of its files; created if it is absent, and locked while open
 * @param journaling when it answers; strict by default
 * @param upkeep when it writes snapshots, and how much journal it keeps
 * @param limits what it refuses
 * @param environment its clocks, randomness, disk and threads; this machine's by default
 */
public record StoreOptions(
    Path folder, Journaling journaling, Upkeep upkeep, Limits limits, Environment environment) {

  /** A strict store with the defaults. */
  public static StoreOptions in(Path folder) {
    return new StoreOptions(
        folder, Journaling.STRICT, Upkeep.DEFAULTS, Limits.defaults(), Environment.system());
  }

  /** The same in another folder. */
  public StoreOptions withFolder(Path folder) {
    return new StoreOptions(folder, journaling, upkeep, limits, environment);
  }

  /** The same with other journaling. */
  public StoreOptions withJournaling(Journaling journaling) {
    return new StoreOptions(folder, journaling, upkeep, limits, environment);
  }

  /** The same with a snapshot after this many commits. */
  public StoreOptions withSnapshotEvery(long commits) {
    return withUpkeep(upkeep.withSnapshotEvery(commits));
  }

  /** The same with other upkeep. */
  public StoreOptions withUpkeep(Upkeep upkeep) {
    return new StoreOptions(folder, journaling, upkeep, limits, environment);
  }

  /** The same with other limits. */
  public StoreOptions withLimits(Limits limits) {
    return new StoreOptions(folder, journaling, upkeep, limits, environment);
  }

  /** The same in another environment. */
  public StoreOptions withEnvironment(Environment environment) {
    return new StoreOptions(folder, journaling, upkeep, limits, environment);
  }
}
