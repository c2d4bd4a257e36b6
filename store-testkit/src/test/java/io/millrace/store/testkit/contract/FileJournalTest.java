package io.millrace.store.testkit.contract;

import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.files.FileJournal;
import io.millrace.store.journal.files.FileJournalOptions;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;

/** The journal in files keeps the contract of journals. */
final class FileJournalTest {
  private record InFolder(Environment environment, Path folder) implements JournalFixture {
    @Override
    public Journal open() {
      // Segments so small that every test with a few dozen frames has several of them.
      FileJournalOptions options = new FileJournalOptions(1 << 16, 4 << 20);
      return FileJournal.at(environment, folder, options);
    }

    @Override
    public <T> T await(CompletableFuture<T> answer) {
      return environment.await(answer);
    }

    @Override
    public boolean crashes() {
      return environment instanceof SimulatedEnvironment;
    }

    @Override
    public void crash() {
      ((SimulatedEnvironment) environment).cutPower();
    }

    @Override
    public void close() {}
  }

  @Nested
  class OnThisMachine extends JournalContract {
    @TempDir private Path folder;

    @Override
    protected JournalFixture newFixture() {
      return new InFolder(Environment.system(), folder);
    }
  }

  @Nested
  class OnTheSimulatedDisk extends JournalContract {
    @Override
    protected JournalFixture newFixture() {
      return new InFolder(new SimulatedEnvironment(1), Path.of("journal"));
    }
  }
}
