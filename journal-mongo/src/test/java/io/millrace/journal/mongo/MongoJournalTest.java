package io.millrace.journal.mongo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.journal.shared.SharedJournal;
import io.millrace.store.Bytes;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Transaction;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.Retention;
import io.millrace.store.testkit.contract.JournalContract;
import io.millrace.store.testkit.contract.JournalFixture;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The journal in MongoDB keeps the contract of journals, asks for what it needs, and says what it
 * cannot use. The server of the tests shows neither linearizable reads nor elections.
 */
final class MongoJournalTest extends JournalContract {
  private static final Duration LEASE = Duration.ofMillis(600);

  private static MongoTestServer server;

  @TempDir private Path folder;

  @BeforeAll
  static void start() {
    server = new MongoTestServer();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Override
  protected JournalFixture newFixture() {
    MongoJournalOptions options = server.newPlace().with(Retention.NONE, LEASE);
    return new JournalFixture() {
      @Override
      public Journal open() {
        return SharedJournal.open(Environment.system(), options);
      }

      @Override
      public <T> T await(CompletableFuture<T> answer) {
        return answer.join();
      }

      @Override
      public void close() {}
    };
  }

  private EmbeddedTaskStore open(MongoJournalOptions options) {
    return TaskStore.open(
        StoreOptions.in(folder), () -> SharedJournal.open(Environment.system(), options));
  }

  private static Transaction task(String data) {
    return Transaction.by(Owner.client(1)).add("group", Bytes.of(data)).build();
  }

  @Test
  void a_standby_takes_over_with_everything_when_the_leader_ends() throws Exception {
    // Nobody waits for this lease, since the leader gives it up; it must not end before that.
    MongoJournalOptions options = server.newPlace().with(Retention.DEFAULTS, Duration.ofSeconds(5));
    CompletableFuture<EmbeddedTaskStore> second;
    try (EmbeddedTaskStore first = open(options)) {
      first.commit(task("one"));
      second = CompletableFuture.supplyAsync(() -> open(options));
      first.commit(task("two"));
    }
    try (EmbeddedTaskStore next = second.get(30, TimeUnit.SECONDS)) {
      assertThat(next.group(GroupQuery.all("group")).value()).hasSize(2);
      next.commit(task("three"));
      assertThat(next.group(GroupQuery.all("group")).value()).hasSize(3);
    }
  }

  @Test
  void stores_with_other_names_are_apart() throws Exception {
    MongoJournalOptions options = server.newPlace();
    MongoJournalOptions longer = options.withStore("one-more", Set.of());
    try (EmbeddedTaskStore one = open(options.withStore("one", Set.of()));
        EmbeddedTaskStore two = open(longer);
        MongoBucket bucket = new MongoBucket(longer)) {
      one.commit(task("one"));
      assertThat(two.group(GroupQuery.all("group")).value()).isEmpty();
      assertThat(bucket.list("log/", "", 10)).hasSize(2);
    }
  }

  @Test
  void objects_are_created_once_listed_in_order_and_have_up_to_9_MiB() throws Exception {
    try (MongoBucket bucket = new MongoBucket(server.newPlace())) {
      byte[] large = new byte[9 << 20];
      large[large.length - 1] = 1;
      assertThat(bucket.create("log/2", large)).isTrue();
      assertThat(bucket.create("log/2", new byte[0])).isFalse();
      bucket.put("log/1", new byte[] {1});
      bucket.put("log/1", new byte[] {2});
      bucket.put("log-of-another", new byte[] {3});
      assertThat(bucket.getAll(List.of("log/1", "log/3", "log/2")))
          .containsExactly(new byte[] {2}, null, large);
      assertThat(bucket.list("log/", "", 10)).containsExactly("log/1", "log/2");
      assertThat(bucket.list("log/", "", 1)).containsExactly("log/1");
      assertThat(bucket.list("log/", "log/1", 10)).containsExactly("log/2");
      bucket.delete(List.of("log/1", "log/3"));
      assertThat(bucket.list("log", "", 10)).containsExactly("log-of-another", "log/2");
    }
  }

  @Test
  void writes_wait_for_journals_of_a_majority_and_reads_are_linearizable() throws Exception {
    try (MongoTestServer other = new MongoTestServer();
        MongoBucket bucket =
            new MongoBucket(
                MongoJournalOptions.at(
                    other.url("test")
                        + "?w=1&journal=false&readConcernLevel=local&retryWrites=true"
                        + "&readPreference=secondary"))) {
      var _ = bucket.create("log/1", new byte[] {1});
      bucket.put("lease", new byte[] {1});
      var _ = bucket.get("lease");
      var _ = bucket.list("log/", "", 10);
      bucket.delete(List.of("lease"));
      for (String change : List.of("insert", "update", "delete")) {
        assertThat(other.seen(change))
            .isNotEmpty()
            .allSatisfy(sent -> {
              assertThat(sent).doesNotContainKey("txnNumber");
              assertThat((Map<?, ?>) sent.get("writeConcern"))
                  .asString()
                  .contains("\"majority\"", "\"j\" : true", "\"wtimeout\" : 10000");
            });
      }
      assertThat(other.seen("find"))
          .hasSize(2)
          .allSatisfy(
              sent -> assertThat(sent.get("readConcern")).asString().contains("linearizable"));
    }
  }

  @Test
  void a_document_that_is_in_the_way_and_is_rolled_back_proves_nothing() throws Exception {
    try (MongoTestServer other = new MongoTestServer();
        MongoBucket bucket = new MongoBucket(other.newPlace())) {
      other.rollBack(true);
      assertThatThrownBy(() -> bucket.create("log/1", new byte[] {1}))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("is not any more");
      other.rollBack(false);
      assertThat(bucket.create("log/1", new byte[] {1})).isTrue();
    }
  }

  @Test
  void a_create_whose_answer_is_lost_is_unknown_and_not_sent_again() throws Exception {
    try (MongoTestServer other = new MongoTestServer();
        MongoBucket bucket = new MongoBucket(other.newPlace())) {
      assertThat(bucket.get("log/1")).isNull();
      other.loseNextAnswer();
      assertThatThrownBy(() -> bucket.create("log/1", new byte[] {1}))
          .isInstanceOf(IOException.class);
      assertThat(other.seen("insert")).hasSize(1);
      assertThat(bucket.get("log/1")).containsExactly(1);
    }
  }

  @Test
  void a_server_that_may_lose_commits_is_refused_unless_that_is_accepted() throws Exception {
    try (MongoTestServer alone = new MongoTestServer().standalone();
        MongoTestServer careless = new MongoTestServer().notJournaled();
        MongoTestServer small = new MongoTestServer().capped()) {
      assertThatThrownBy(() -> SharedJournal.check(alone.newPlace()))
          .isInstanceOf(JournalException.class)
          .hasMessageContaining("store.accept = standalone");
      SharedJournal.check(alone.newPlace().withStore("main", Set.of("standalone")));
      assertThatThrownBy(() -> SharedJournal.check(careless.newPlace()))
          .isInstanceOf(JournalException.class)
          .hasMessageContaining("store.accept = writeConcernMajorityJournalDefault");
      SharedJournal.check(
          careless.newPlace().withStore("main", Set.of("writeConcernMajorityJournalDefault")));
      assertThatThrownBy(() -> SharedJournal.check(MongoJournalOptions.at(small.url("test"))))
          .isInstanceOf(JournalException.class)
          .hasMessageContaining("collection millrace_journal has the option 'capped'");
    }
  }

  @Test
  void a_server_that_does_not_answer_is_named() {
    MongoJournalOptions nobody =
        MongoJournalOptions.at("mongodb://127.0.0.1:1/test?serverSelectionTimeoutMS=300");
    assertThatThrownBy(() -> SharedJournal.check(nobody))
        .isInstanceOf(JournalException.class)
        .hasMessageContaining("mongodb://127.0.0.1:1/test (store main) cannot be opened")
        .hasMessageContaining("no server that can be written to answers: 127.0.0.1:1")
        .hasMessageContaining("Connection refused");
  }

  @Test
  void addresses_that_are_wrong_are_refused_by_name() {
    assertThatThrownBy(() -> MongoJournalOptions.at("mongodb://host"))
        .hasMessageContaining("no database");
    assertThatThrownBy(() -> MongoJournalOptions.at("mongodb://host:port/db"))
        .hasMessageContaining("not an address of a MongoDB database");
    assertThatThrownBy(() -> MongoJournalOptions.at("mongodb://user:secret@host/db"))
        .hasMessageContaining("give the two apart")
        .hasMessageNotContaining("secret");
    MongoJournalOptions options = MongoJournalOptions.at("mongodb://host/db?authSource=admin");
    assertThatThrownBy(() -> options.withStore("main", Set.of("expiry")))
        .hasMessageContaining("standalone");
    assertThatThrownBy(() -> options.withUser("user", null)).hasMessageContaining("a password");
    assertThat(options.withUser("user", "secret")).hasToString("mongodb://host/db (store main)");
  }
}
