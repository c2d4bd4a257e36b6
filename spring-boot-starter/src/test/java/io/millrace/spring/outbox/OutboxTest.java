package io.millrace.spring.outbox;

import static io.millrace.spring.outbox.CrashingApplication.LETTER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.client.ClientOptions;
import io.millrace.client.RejectedException;
import io.millrace.client.UnreachableException;
import io.millrace.client.jobs.JobClient;
import io.millrace.client.jobs.JobKind;
import io.millrace.client.jobs.JobOrder;
import io.millrace.embedded.EmbeddedOptions;
import io.millrace.embedded.Millrace;
import io.millrace.store.OutcomeUnknownException;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.TransactionTemplate;

/** What is committed with a transaction becomes one job each, in spite of crashes and failures. */
@Timeout(120)
class OutboxTest {
  private static final JobOutbox.Bounds BOUNDS = new JobOutbox.Bounds(1_000, 100);
  private static final int LETTERS = 60;

  /** Connects on first use, and is not used. */
  private static final JobClient NO_CLIENT =
      JobClient.open(ClientOptions.at(URI.create("http://localhost:1")));

  @TempDir private Path folder;
  private Instant now = Instant.parse("2026-11-26T12:00:00Z");
  private final InstantSource clock = () -> now;

  /** The server, and what its jobs were. */
  private static final class Server implements AutoCloseable {
    final Millrace millrace;
    final Map<Integer, Set<String>> jobs = new ConcurrentHashMap<>();
    final Queue<Integer> order = new ConcurrentLinkedQueue<>();
    private final CountDownLatch last = new CountDownLatch(1);

    Server(Path folder) {
      var options = EmbeddedOptions.in(folder.resolve("millrace")).withKind(LETTER).withHttp(0);
      millrace = Millrace.start(options);
    }

    /** Waits for all jobs, of which one that is submitted now is the last. */
    void workOnAll() throws InterruptedException {
      millrace.work(
          LETTER,
          (number, job) -> {
            if (number < 0) {
              last.countDown();
            } else {
              order.add(number);
              jobs.computeIfAbsent(number, _ -> ConcurrentHashMap.newKeySet()).add(job.id());
            }
            return null;
          });
      millrace.jobs().submit(LETTER, -1);
      assertThat(last.await(60, TimeUnit.SECONDS)).isTrue();
    }

    void hasOneJobOfEach(Set<Integer> numbers) {
      assertThat(jobs.keySet()).isEqualTo(numbers);
      assertThat(jobs.values()).allSatisfy(ids -> assertThat(ids).hasSize(1));
    }

    @Override
    public void close() {
      millrace.close();
    }
  }

  private static Set<Integer> letters(DataSource database) {
    return new HashSet<>(
        new JdbcTemplate(database).queryForList("SELECT number FROM letters", Integer.class));
  }

  /** A client that is called by another one, and may do something before and after. */
  private interface Call {
    JobClient.SubmittedJob of(
        JobClient client, JobKind<Object, ?> kind, Object payload, JobOrder order);
  }

  private static JobClient client(JobClient inner, Call call) {
    return new JobClient() {
      @Override
      @SuppressWarnings("unchecked")
      public <P> SubmittedJob submit(JobKind<P, ?> kind, P payload, JobOrder order) {
        return call.of(inner, (JobKind<Object, ?>) kind, payload, order);
      }

      @Override
      public <R> R await(JobKind<?, R> kind, String job, Duration timeout)
          throws InterruptedException, TimeoutException, IOException {
        throw new UnsupportedOperationException();
      }

      @Override
      public void cancel(String job) {
        throw new UnsupportedOperationException();
      }

      @Override
      public void close() {}
    };
  }

  /** A database that a crashed process cannot reach. */
  private static final class Link extends DelegatingDataSource {
    private boolean cut;

    Link(DataSource database) {
      super(database);
    }

    @Override
    public Connection getConnection() throws SQLException {
      if (cut) {
        throw new SQLException("the process has crashed");
      }
      return super.getConnection();
    }
  }

  private static final class Crash extends Error {
    private static final long serialVersionUID = 1;
  }

  private OutboxRelay relay(DataSource database, JobClient client) {
    return new OutboxRelay(new OutboxTable(database), client, clock);
  }

  /** A relay of a process that crashes before or after it has sent, or loses the answer. */
  private OutboxRelay faulty(Link link, JobClient server, Random random) {
    return relay(
        link,
        client(
            server,
            (inner, kind, payload, order) -> {
              int fault = random.nextInt(20);
              if (fault == 0) {
                throw new UnreachableException("no server", new IOException());
              }
              if (fault == 1) {
                link.cut = true;
                throw new Crash();
              }
              JobClient.SubmittedJob job = inner.submit(kind, payload, order);
              if (fault == 2) {
                throw new OutcomeUnknownException("the answer was lost");
              }
              if (fault <= 4) {
                link.cut = true;
                throw new Crash();
              }
              return job;
            }));
  }

  /** A database for a test with this folder. */
  interface In {
    DataSource database(Path folder);
  }

  static Stream<Named<In>> databases() {
    return Stream.of(
        Named.of("H2", Database::h2),
        Named.of("PostgreSQL", Database::postgresql),
        Named.of("MariaDB", Database::mariadb));
  }

  @ParameterizedTest
  @MethodSource("databases")
  void each_committed_submission_becomes_one_job_though_relays_crash(In kind) throws Exception {
    DataSource database = kind.database(folder);
    Random random = new Random(20);
    try (Server server = new Server(folder)) {
      OutboxTable table = new OutboxTable(database);
      OutboxRelay idle = relay(database, server.millrace.jobs());
      JobOutbox outbox = new JobOutbox(table, idle, BOUNDS, clock);
      for (int number = 0; number < LETTERS; number++) {
        CrashingApplication.write(database, outbox, number);
      }
      assertThat(table.content().waiting()).isEqualTo(LETTERS * 2 / 3);
      int crashes = 0;
      Link link = new Link(database);
      OutboxRelay relay = faulty(link, server.millrace.jobs(), random);
      while (table.content().waiting() > 0) {
        try {
          relay.step(now);
        } catch (Crash _) {
          assertThat(link.cut).isTrue();
        }
        now = now.plusSeconds(1);
        if (link.cut) {
          crashes++;
          now = now.plus(OutboxRelay.LEASE);
          link = new Link(database);
          relay = faulty(link, server.millrace.jobs(), random);
        }
      }
      assertThat(crashes).isGreaterThan(3);
      server.workOnAll();
      server.hasOneJobOfEach(letters(database));
      assertThat(server.jobs).hasSize(LETTERS * 2 / 3);
      assertThat(List.copyOf(server.order)).isSorted();
    }
  }

  @Test
  void each_committed_submission_becomes_one_job_though_the_process_is_killed() throws Exception {
    DataSource database = Database.sqlite(folder);
    Random random = new Random(20);
    try (Server server = new Server(folder)) {
      String address = server.millrace.address().orElseThrow().toString();
      int next = 0;
      for (int kill = 0; kill < 3; kill++) {
        Process process =
            new ProcessBuilder(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-XX:TieredStopAtLevel=1",
                    "--enable-native-access=ALL-UNNAMED",
                    "-cp",
                    System.getProperty("java.class.path"),
                    CrashingApplication.class.getName(),
                    folder.toString(),
                    address,
                    Integer.toString(next))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (BufferedReader lines = process.inputReader()) {
          int last = next + 20 + random.nextInt(30);
          while (next < last) {
            String line = lines.readLine();
            assertThat(line).as("the program prints numbers").isNotNull();
            if (line.matches("[0-9]+")) {
              next = Integer.parseInt(line);
            }
          }
        } finally {
          process.destroyForcibly().waitFor();
        }
        // What was under way may have been committed.
        next += 100;
      }
      OutboxTable table = new OutboxTable(database);
      OutboxRelay relay = relay(database, server.millrace.jobs());
      now = Instant.now().plus(OutboxRelay.LEASE);
      while (table.content().waiting() > 0) {
        relay.step(now);
      }
      server.workOnAll();
      Set<Integer> written = letters(database);
      assertThat(written).hasSizeGreaterThan(40).allMatch(number -> number % 3 != 0);
      server.hasOneJobOfEach(written);
    }
  }

  @Test
  void of_two_relays_one_sends_at_a_time_and_in_order() throws Exception {
    DataSource database = Database.h2(folder);
    OutboxTable table = new OutboxTable(database);
    List<String> calls = new ArrayList<>();
    OutboxRelay first = relay(database, noting("first", calls));
    OutboxRelay second = relay(database, noting("second", calls));
    JobOutbox outbox = new JobOutbox(table, first, BOUNDS, clock);
    CrashingApplication.write(database, outbox, 1);
    CrashingApplication.write(database, outbox, 2);
    first.step(now);
    CrashingApplication.write(database, outbox, 4);
    second.step(now);
    assertThat(calls).containsExactly("first 1", "first 2");
    assertThat(table.content().waiting()).isEqualTo(1);
    first.close();
    second.step(now);
    assertThat(calls).containsExactly("first 1", "first 2", "second 4");
  }

  private static JobClient noting(String name, List<String> calls) {
    JobClient.SubmittedJob job = new JobClient.SubmittedJob("id", "id", false);
    return client(
        NO_CLIENT,
        (_, _, payload, _) -> {
          calls.add(name + " " + text(payload));
          return job;
        });
  }

  private static String text(Object payload) {
    return new String((byte[]) payload, StandardCharsets.UTF_8);
  }

  @Test
  void what_the_server_rejects_is_set_aside_and_can_be_sent_again() {
    DataSource database = Database.h2(folder);
    OutboxTable table = new OutboxTable(database);
    List<String> calls = new ArrayList<>();
    List<String> unknown = new ArrayList<>(List.of("1"));
    OutboxRelay relay =
        relay(
            database,
            client(
                noting("relay", calls),
                (inner, kind, payload, order) -> {
                  if (unknown.contains(text(payload))) {
                    throw new RejectedException(400, "there is no job type letter");
                  }
                  return inner.submit(kind, payload, order);
                }));
    JobOutbox outbox = new JobOutbox(table, relay, BOUNDS, clock);
    CrashingApplication.write(database, outbox, 1);
    CrashingApplication.write(database, outbox, 2);
    relay.step(now);
    assertThat(calls).containsExactly("relay 2");
    assertThat(table.content().rejected()).isEqualTo(1);
    unknown.clear();
    assertThat(outbox.retryRejected()).isEqualTo(1);
    relay.step(now);
    assertThat(calls).containsExactly("relay 2", "relay 1");
    assertThat(table.content()).isEqualTo(new OutboxTable.Content(0, 0, 0));
  }

  @Test
  void a_row_of_unknown_outcome_is_not_sent_after_the_server_may_have_forgotten_it() {
    DataSource database = Database.h2(folder);
    OutboxTable table = new OutboxTable(database);
    boolean[] lost = {true};
    List<String> calls = new ArrayList<>();
    OutboxRelay relay =
        relay(
            database,
            client(
                noting("relay", calls),
                (inner, kind, payload, order) -> {
                  inner.submit(kind, payload, order);
                  throw lost[0]
                      ? new OutcomeUnknownException("the answer was lost")
                      : new UnreachableException("no server", new IOException());
                }));
    JobOutbox outbox = new JobOutbox(table, relay, BOUNDS, clock);
    CrashingApplication.write(database, outbox, 1);
    CrashingApplication.write(database, outbox, 2);
    relay.step(now);
    assertThat(relay.problem()).contains("lost");
    assertThat(table.first(10))
        .extracting(OutboxTable.Row::sentAt)
        .containsExactly(now.toEpochMilli(), null);
    lost[0] = false;
    now = now.plus(OutboxRelay.RESEND_PERIOD).plusSeconds(1);
    relay.step(now);
    assertThat(calls).containsExactly("relay 1", "relay 2");
    assertThat(table.content().rejected()).isEqualTo(1);
    // The second one was never sent, so it may wait for ever.
    assertThat(table.first(10)).extracting(OutboxTable.Row::sentAt).containsExactly((Long) null);
  }

  @Test
  void submissions_need_a_transaction_of_the_same_database_and_room() {
    DataSource database = Database.h2(folder);
    OutboxTable table = new OutboxTable(database);
    OutboxRelay relay = relay(database, NO_CLIENT);
    JobOutbox outbox = new JobOutbox(table, relay, new JobOutbox.Bounds(1, 3), clock);
    assertThatThrownBy(() -> outbox.submit(LETTER, 1))
        .isInstanceOf(IllegalTransactionStateException.class)
        .hasMessageContaining("within a transaction");
    TransactionTemplate here = new TransactionTemplate(new JdbcTransactionManager(database));
    TransactionTemplate elsewhere =
        new TransactionTemplate(new JdbcTransactionManager(Database.sqlite(folder)));
    assertThatThrownBy(() -> elsewhere.executeWithoutResult(_ -> outbox.submit(LETTER, 1)))
        .isInstanceOf(IllegalTransactionStateException.class)
        .hasMessageContaining("data source");
    assertThatThrownBy(() -> here.executeWithoutResult(_ -> outbox.submit(LETTER, 1_000)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("4 bytes");
    here.executeWithoutResult(
        _ -> outbox.submit(LETTER, 1, JobOrder.DEFAULT.withDelay(Duration.ofMinutes(1))));
    assertThat(table.first(1).getFirst().order())
        .containsEntry("At", "2026-11-26T12:01:00Z")
        .containsKey("RequestId")
        .doesNotContainKey("Delay");
    assertThatThrownBy(() -> here.executeWithoutResult(_ -> outbox.submit(LETTER, 2)))
        .isInstanceOf(OutboxFullException.class)
        .hasMessageContaining("millrace.outbox.max-rows is 1");
  }
}
