package io.millrace.store.kernel.records;

import io.millrace.store.Bytes;
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
   * A part of a group of records that is divided among several frames.
   *
   * @param index its number among the parts, from 0
   * @param count the number of parts, at least 2
   * @param bytes a piece of the records
   */
  record Part(long index, long count, Bytes bytes) implements JournalRecord {}

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

  /**
   * How many tasks have started lately, of a snapshot, for a limit of starts in a period.
   *
   * @param scope what the limit is about
   * @param name the name of the group, prefix or shared limit
   * @param key the key; empty unless the limit is about a key
   * @param fullAtMicros see {@link io.millrace.store.Throttling.Limit#possible}
   */
  record KeptStarts(Scope scope, String name, String key, long fullAtMicros)
      implements JournalRecord {
    /** What a limit is about. */
    public enum Scope {
      /** A group. */
      GROUP,
      /** A key of a group. */
      KEY,
      /** A shared limit. */
      SHARED,
      /** All groups with a prefix. */
      PREFIX,
      /** A key of all groups with a prefix. */
      PREFIX_KEY
    }
  }
}
