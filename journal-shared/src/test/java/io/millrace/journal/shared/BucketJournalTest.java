package io.millrace.journal.shared;

import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Journal;
import io.millrace.store.testkit.contract.JournalContract;
import io.millrace.store.testkit.contract.JournalFixture;
import java.util.concurrent.CompletableFuture;

/** The journal in a bucket keeps the contract of journals. */
final class BucketJournalTest extends JournalContract {
  @Override
  protected JournalFixture newFixture() {
    MemoryBucket bucket = new MemoryBucket();
    return new JournalFixture() {
      @Override
      public Journal open() {
        return SharedJournal.open(Environment.system(), bucket.location());
      }

      @Override
      public <T> T await(CompletableFuture<T> answer) {
        return answer.join();
      }

      @Override
      public void close() {}
    };
  }
}
