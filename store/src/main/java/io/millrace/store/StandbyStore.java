package io.millrace.store;

import org.jspecify.annotations.Nullable;

/**
 * A store whose journal several processes share, until this process leads it: it follows the
 * journal in memory. Made by {@link TaskStore#standby}. Thread-safe.
 */
public interface StandbyStore extends AutoCloseable {
  /**
   * What a standby knows.
   *
   * @param position the last commit that it has applied; null if it has applied none
   * @param leader the address that the leader has announced; null if nobody leads, or the leader
   *     has announced none
   * @param problem why the journal cannot be followed at the moment; null if it can
   */
  record View(@Nullable Position position, @Nullable String leader, @Nullable String problem) {}

  /**
   * Follows the journal until nobody else leads it, and then leads. Called once.
   *
   * @throws StoreClosedException if the standby is closed before
   * @throws io.millrace.store.journal.JournalException if the journal cannot be opened or is
   *     damaged
   */
  EmbeddedTaskStore lead();

  /** What it knows now. Does not block. */
  View view();

  /** Ends {@link #lead}. Does nothing if that has returned. */
  @Override
  void close();
}
