package io.millrace.store.kernel.records;

import io.millrace.store.Document;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.Task;

/** One record of a frame or of a snapshot, as docs/journal-format.md describes them. */
public sealed interface JournalRecord {
  /** A commit. */
  record Committed(Event event) implements JournalRecord {}

  /**
   * A writer began an epoch.
   *
   * @param epoch its number
   * @param journaling how it answers, which tells whether a crash may have lost answers
   * @param history the histories that lead to its own
   */
  record Opened(long epoch, Journaling journaling, History history) implements JournalRecord {}

  /** A writer closed the store after everything was durable. */
  record Closed() implements JournalRecord {}

  /**
   * The counters of a snapshot, its first record.
   *
   * @param lastId the largest id or version given so far
   * @param commits the number of commits so far
   * @param timeMillis the store time
   * @param forks whether a store that begins with this snapshot, without a later {@link Opened}
   *     record, goes on under a new history: so it is with a backup, and when answers were given
   *     before they were on disk
   * @param history the histories that lead to the present one
   */
  record Counters(long lastId, long commits, long timeMillis, boolean forks, History history)
      implements JournalRecord {}

  /** A task of a snapshot. */
  record KeptTask(Task task) implements JournalRecord {}

  /** A document of a snapshot. */
  record KeptDocument(Document document) implements JournalRecord {}

  /** A commit of a snapshot that is remembered for its request id. */
  record KeptRequest(Event event) implements JournalRecord {}
}
