package io.millrace.store.testkit.contract;

import io.millrace.store.journal.Journal;
import java.util.concurrent.CompletableFuture;

/** The place of a journal for one test, empty at first. */
public interface JournalFixture extends AutoCloseable {
  /** Opens the journal to follow or lead it; the test closes it. Several may be open at a time. */
  Journal open();

  /** Waits for a future of a journal of this fixture; throws its failure. */
  <T> T await(CompletableFuture<T> answer);

  /** Whether {@link #crash} is supported; otherwise tests that need it are reported as skipped. */
  default boolean crashes() {
    return false;
  }

  /**
   * Ends the open journal as a power failure would: what is not durable may be lost. The test does
   * not use it afterwards.
   */
  default void crash() {
    throw new UnsupportedOperationException("nothing can crash here");
  }

  /** Releases all resources. The test has closed every journal by then. */
  @Override
  void close();
}
