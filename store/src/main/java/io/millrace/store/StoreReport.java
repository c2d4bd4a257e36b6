package io.millrace.store;

import io.millrace.store.journal.files.JournalReport;

/**
 * The result of a check of a store where it is kept. Everything but the first two is as of the last
 * frame that could be read and applied.
 *
 * @param journal what is kept, with all damage to them and to the records in them
 * @param records the number of records in all readable snapshots and frames
 * @param tasks the number of tasks
 * @param groups the number of groups that are not empty
 * @param documents the number of documents
 * @param rememberedRequests the number of remembered request ids
 * @param position the number of commits; less than {@link JournalReport#lastPosition} if something
 *     is damaged
 * @param lastId the largest id or version given so far
 * @param digest the digest of {@link EmbeddedTaskStore#digest}
 */
public record StoreReport(
    JournalReport journal,
    long records,
    int tasks,
    int groups,
    int documents,
    int rememberedRequests,
    long position,
    long lastId,
    String digest) {
  /**
   * Whether nothing is damaged. A damaged snapshot counts, even if the store can start without it.
   */
  public boolean isSound() {
    return journal.isSound();
  }
}
