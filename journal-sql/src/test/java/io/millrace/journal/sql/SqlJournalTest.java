package io.millrace.journal.sql;

import io.millrace.database.DatabaseAddress;
import io.millrace.database.DatabaseAddress.Kind;
import io.millrace.database.DatabaseServer;
import io.millrace.journal.shared.SharedJournal;
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
      return SharedJournal.open(Environment.system(), options.withRetention(Retention.NONE));
    }

    @Override
    public <T> T await(CompletableFuture<T> answer) {
      return answer.join();
    }

    @Override
    public void close() {}
  }

  private static JournalFixture inServer(Kind kind) {
    DatabaseAddress server = DatabaseServer.shared(kind).address();
    return new InDatabase(
        SqlJournalOptions.at(server.url())
            .withUser(server.user(), server.password())
            .withStore(UUID.randomUUID().toString()));
  }

  @Nested
  class InPostgresql extends JournalContract {
    @Override
    protected JournalFixture newFixture() {
      return inServer(Kind.POSTGRESQL);
    }
  }

  @Nested
  class InMariadb extends JournalContract {
    @Override
    protected JournalFixture newFixture() {
      return inServer(Kind.MARIADB);
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
