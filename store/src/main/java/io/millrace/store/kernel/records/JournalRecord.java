package io.millrace.store.kernel.records;

import io.millrace.store.Document;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.Task;

/** A record of a frame or of a snapshot; docs/journal-format.md describes them. */
public sealed interface JournalRecord {
  /** A commit. */
  record Committed(Event event) implements JournalRecord {}

  /**
   * A store was opened and began an epoch.
   *
   * @param epoch its number
   * @param journaling whether answers wait for the disk; if not, a crash may lose commits
   * @param history its history
   */
  record Opened(long epoch, Journaling journaling, History history) implements JournalRecord {}

  /** The store was closed, and everything before is durable. */
  record Closed() implements JournalRecord {}

  /**
   * The counters of a snapshot, its first record.
   *
   * @param lastId the largest id or version given so far
   * @param commits the number of commits so far
   * @param timeMillis the store time
   * @param forks whether a store that starts from this snapshot, without a later {@link Opened}
   *     record, continues under a new history: true for a backup, and for a store that is not
   *     strict
   * @param history the history
   */
  record Counters(long lastId, long commits, long timeMillis, boolean forks, History history)
      implements JournalRecord {}

  /** A task of a snapshot. */
  record KeptTask(Task task) implements JournalRecord {}

  /** A document of a snapshot. */
  record KeptDocument(Document document) implements JournalRecord {}

  /** A remembered request of a snapshot: the commit with its request id. */
  record KeptRequest(Event event) implements JournalRecord {}
}
