package io.millrace.store;

import io.millrace.store.journal.files.JournalReport;

/**
 * What a check of a store's folder found: its files, and what a restart would find in them.
 *
 * @param journal the files, and all damage: to them, and to the records in them
 * @param records the number of records in all snapshots and frames, as far as they could be read
 * @param tasks the number of tasks after the last frame that could be read and applied
 * @param groups the number of groups that are not empty there
 * @param documents the number of documents there
 * @param rememberedRequests the number of requests remembered there for their ids
 * @param position the number of commits up to there; less than {@link JournalReport#lastPosition}
 *     if something is damaged
 * @param lastId the largest id or version that had been given by then
 */
public record StoreReport(
    JournalReport journal,
    long records,
    int tasks,
    int groups,
    int documents,
    int rememberedRequests,
    long position,
    long lastId) {
  /** Whether nothing is damaged. A damaged snapshot counts, though a store may do without. */
  public boolean isSound() {
    return journal.isSound();
  }
}
