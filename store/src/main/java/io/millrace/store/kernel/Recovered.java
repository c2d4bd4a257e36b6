package io.millrace.store.kernel;

import io.millrace.store.journal.Journal;
import io.millrace.store.kernel.records.History;
import io.millrace.store.kernel.state.State;

/**
 * What a store begins with.
 *
 * @param state the state after the last commit
 * @param history the histories up to the one to go on with
 * @param clock store time, from the last journaled time on
 * @param tail where the journal ended
 * @param replayed what lies between the snapshot that it began with and the end
 */
record Recovered(
    State state, History history, StoreClock clock, Journal.Tail tail, Replayed replayed) {
  /**
   * What was read after the snapshot.
   *
   * @param snapshotAt how many commits the snapshot holds, 0 for none
   * @param bytes the size of the frames' payloads after it
   */
  record Replayed(long snapshotAt, long bytes) {}
}
