package io.millrace.store.journal;

import java.nio.ByteBuffer;

/**
 * What a journal's payloads mean to whoever wrote them; a {@link JournalCheck} shows it all that it
 * finds: snapshots first, the newest before the older ones, then the frames in order. Payloads are
 * only valid during the call.
 */
public interface JournalContents {
  /** A snapshot begins; of {@code frame} only the header counts. */
  default void snapshot(Frame frame) {}

  /**
   * A part of it, in the order written.
   *
   * @throws io.millrace.store.StoreException says what is wrong with it; no other part of this
   *     snapshot is shown then
   */
  default void part(ByteBuffer payload) {}

  /**
   * It ends.
   *
   * @param whole whether its file was whole, and nothing wrong with its parts
   */
  default void snapshotEnd(boolean whole) {}

  /**
   * A frame that follows on the one before it in its segment.
   *
   * @throws io.millrace.store.StoreException says what is wrong with it
   */
  default void frame(Frame frame) {}
}
