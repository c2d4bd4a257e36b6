package io.millrace.store;

import java.io.OutputStream;

/** A store in this process, opened by {@link TaskStore#open}. */
public interface EmbeddedTaskStore extends TaskStore {
  /** How the store is doing. */
  StoreStatus status();

  /**
   * Writes the store's state at one position as a snapshot, from which another folder can be
   * restored, while the store works on.
   *
   * @return the position that the snapshot holds
   * @throws StoreException when {@code target} fails
   */
  Position backup(OutputStream target);

  /** Begins a snapshot now, whatever the number of commits since the last; one at a time. */
  void requestSnapshot();

  /**
   * A digest of tasks, documents, counters and remembered requests, in hexadecimal: equal for two
   * stores that hold the same. Walks everything, so it takes a while in a large store.
   */
  Read<String> digest();
}
