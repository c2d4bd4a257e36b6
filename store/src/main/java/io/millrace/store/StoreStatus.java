package io.millrace.store;

import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.StoreOptions.Upkeep;
import org.jspecify.annotations.Nullable;

/**
 * How a store is doing, for metrics and people. Counters begin when the store is opened.
 *
 * @param position the newest commit
 * @param durablePosition the newest commit that is known to be on disk
 * @param timeMillis store time
 * @param journaling when it answers
 * @param tasks tasks in all states
 * @param groups groups that are not empty
 * @param documents documents
 * @param waitingClaims claims that wait for a task
 * @param subscribers open subscriptions
 * @param rememberedRequests answers kept for their request ids
 * @param memoryBytes what all that takes, by the store's estimate
 * @param memoryLimitBytes how much it may take
 * @param unsyncedBytes journal bytes that are not known to be on disk
 * @param unsyncedMillis how long the oldest commit that is not on disk has been waiting, 0 for
 *     none: what a crash could cost an opportunistic store
 * @param committed transactions that took effect
 * @param claimed claims that took tasks
 * @param empty claims that found nothing
 * @param refused commands refused
 * @param repeated commands answered again for their request id
 * @param frames groups handed to the journal
 * @param snapshots snapshots published
 */
public record StoreStatus(
    Position position,
    Position durablePosition,
    long timeMillis,
    Journaling journaling,
    long tasks,
    long groups,
    long documents,
    long waitingClaims,
    long subscribers,
    long rememberedRequests,
    long memoryBytes,
    long memoryLimitBytes,
    long unsyncedBytes,
    long unsyncedMillis,
    long committed,
    long claimed,
    long empty,
    long refused,
    long repeated,
    long frames,
    long snapshots) {

  /**
   * How the disk of a store is doing.
   *
   * @param freeBytes the bytes that are free on it; {@link Long#MAX_VALUE} if that is not known
   * @param reserveBytes how many of them the journal leaves to others, see {@link
   *     Upkeep#diskReserveBytes}
   * @param shortage why the journal cannot have more room, in words; null while it can. Growth is
   *     refused as full until it is over
   * @param stuck whether commands wait for that room, and reads with them
   * @param snapshotFailure why the last snapshot could not be written, in words; null if it could
   */
  public record DiskState(
      long freeBytes,
      long reserveBytes,
      @Nullable String shortage,
      boolean stuck,
      @Nullable String snapshotFailure) {}
}
