package io.millrace.store.testkit.contract;

import io.millrace.store.journal.Journal;
import java.util.concurrent.CompletableFuture;

/** Where one test keeps a journal, which is empty to begin with. */
public interface JournalFixture extends AutoCloseable {
  /**
   * Opens the journal on what is there; the test recovers and closes it.
   *
   * @throws io.millrace.store.journal.JournalException if another one is open and the back end
   *     admits one at a time
   */
  Journal open();

  /** Waits for what a journal of this place will complete; throws what it failed with. */
  <T> T await(CompletableFuture<T> answer);

  /** Whether {@link #crash} works; tests that need it are skipped visibly otherwise. */
  default boolean crashes() {
    return false;
  }

  /**
   * Ends the journal that is open as a power failure would: what it has not made durable may be
   * lost. It is not used after that.
   */
  default void crash() {
    throw new UnsupportedOperationException("nothing can crash here");
  }

  /** Gives everything back; every journal is closed by then. */
  @Override
  void close();
}
