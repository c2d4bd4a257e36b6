package io.millrace.store.kernel;

import io.millrace.store.journal.Journal;

/**
 * What a store begins with.
 *
 * @param state the state after the last commit
 * @param history the histories up to the one to go on with
 * @param clock store time, from the last journaled time on
 * @param tail where the journal ended
 * @param snapshotAt how many commits the snapshot holds that it began with, 0 for none
 */
record Recovered(
    State state, History history, StoreClock clock, Journal.Tail tail, long snapshotAt) {}
