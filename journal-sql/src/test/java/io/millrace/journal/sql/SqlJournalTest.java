package io.millrace.journal.sql;

import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.Retention;
import io.millrace.store.testkit.contract.JournalContract;
import io.millrace.store.testkit.contract.JournalFixture;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;

/** The journal in each database keeps the contract of journals. */
final class SqlJournalTest {
  private record InDatabase(SqlJournalOptions options) implements JournalFixture {
    @Override
    public Journal open() {
      return SqlJournal.open(Environment.system(), options.withRetention(Retention.NONE));
    }

    @Override
    public <T> T await(CompletableFuture<T> answer) {
      return answer.join();
    }

    @Override
    public void close() {}
  }

  private static JournalFixture inServer(Dialect dialect) {
    return new InDatabase(DatabaseServer.shared(dialect).options(UUID.randomUUID().toString()));
  }

  @Nested
  class InPostgresql extends JournalContract {
    @Override
    protected JournalFixture newFixture() {
      return inServer(Dialect.POSTGRESQL);
    }
  }

  @Nested
  class InMariadb extends JournalContract {
    @Override
    protected JournalFixture newFixture() {
      return inServer(Dialect.MARIADB);
    }
  }

  @Nested
  class InSqlite extends JournalContract {
    @TempDir private Path folder;

    @Override
    protected JournalFixture newFixture() {
      return new InDatabase(SqlJournalOptions.at("jdbc:sqlite:" + folder.resolve("store.db")));
    }
  }
}
