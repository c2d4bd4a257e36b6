package io.millrace.spring.outbox;

import io.millrace.client.ClientOptions;
import io.millrace.client.jobs.JobClient;
import io.millrace.client.jobs.JobKind;
import java.net.URI;
import java.nio.file.Path;
import java.time.InstantSource;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A program that writes letters and submits them in one transaction, of which every third is rolled
 * back, while a relay sends them; until it is killed. It prints a line for each transaction.
 */
final class CrashingApplication {
  static final JobKind<Integer, Void> LETTER = JobKind.of("letter", Integer.class);

  private CrashingApplication() {}

  /** The folder of the database, the server, and the number of the first letter. */
  public static void main(String[] arguments) throws Exception {
    DataSource database = Database.sqlite(Path.of(arguments[0]));
    OutboxTable table = new OutboxTable(database);
    JobClient client = JobClient.open(ClientOptions.at(URI.create(arguments[1])));
    OutboxRelay relay = new OutboxRelay(table, client, InstantSource.system());
    JobOutbox outbox =
        new JobOutbox(table, relay, new JobOutbox.Bounds(10_000, 100), InstantSource.system());
    relay.start();
    for (int number = Integer.parseInt(arguments[2]); ; number++) {
      write(database, outbox, number);
      System.out.println(number);
    }
  }

  static void write(DataSource database, JobOutbox outbox, int number) {
    new TransactionTemplate(new JdbcTransactionManager(database))
        .executeWithoutResult(status -> {
          new JdbcTemplate(database).update("INSERT INTO letters (number) VALUES (?)", number);
          outbox.submit(LETTER, number);
          if (number % 3 == 0) {
            status.setRollbackOnly();
          }
        });
  }
}
