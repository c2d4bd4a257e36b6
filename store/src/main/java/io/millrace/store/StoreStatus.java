package io.millrace.store;

import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.StoreOptions.Upkeep;
import org.jspecify.annotations.Nullable;

/**
 * The status of a store, for metrics and people. The counters, from {@code committed} on, start at
 * 0 when the store is opened.
 *
 * @param position the newest commit
 * @param durablePosition the newest commit that is known to be on disk
 * @param timeMillis store time
 * @param journaling whether answers wait for the disk
 * @param tasks the number of tasks in all states
 * @param groups the number of groups that are not empty
 * @param documents the number of documents
 * @param waitingClaims the number of claims that wait for a task
 * @param subscribers the number of open subscriptions
 * @param rememberedRequests the number of answers kept for their request ids
 * @param memoryBytes the estimated size of tasks, documents and remembered requests
 * @param memoryLimitBytes the limit of {@code memoryBytes}
 * @param unsyncedBytes bytes of journal that are not known to be on disk
 * @param unsyncedMillis for how long the oldest commit that is not on disk has been waiting, 0 for
 *     none: what a crash could cost an opportunistic store
 * @param committed transactions executed
 * @param claimed claims that took tasks
 * @param empty claims that found nothing
 * @param refused commands refused
 * @param repeated commands whose earlier answer was repeated
 * @param limited claims that found waiting tasks but no room within a limit; a claim that waits
 *     counts each time it is decided
 * @param lapsed claims that ended because their lease did
 * @param frames frames handed to the journal
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
    long limited,
    long lapsed,
    long frames,
    long snapshots) {

  /**
   * The status of a store's disk.
   *
   * @param freeBytes the free bytes of the disk; {@link Long#MAX_VALUE} if unknown
   * @param reserveBytes how many of them the journal leaves free, see {@link
   *     Upkeep#diskReserveBytes}
   * @param shortage why the journal cannot get room for its next segment, for people; null if it
   *     can. Growth is refused as full while there is a shortage
   * @param stuck whether commands and reads wait for room
   * @param snapshotFailure why the last snapshot could not be written, for people; null if it could
   */
  public record DiskState(
      long freeBytes,
      long reserveBytes,
      @Nullable String shortage,
      boolean stuck,
      @Nullable String snapshotFailure) {}
}
