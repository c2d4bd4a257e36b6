package io.millrace.journal.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.journal.shared.SharedJournal;
import io.millrace.s3.S3Address;
import io.millrace.s3.S3Server;
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
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The journal in buckets of S3Proxy keeps the contract of journals, and says what it cannot use.
 */
final class S3JournalTest extends JournalContract {
  private static final Duration LEASE = Duration.ofMillis(600);

  private static S3Server server;

  @TempDir private Path folder;

  @BeforeAll
  static void start() throws Exception {
    server = new S3Server();
  }

  @AfterAll
  static void stop() throws Exception {
    server.stop();
  }

  private static S3JournalOptions newPlace() {
    S3Address place = server.newPlace();
    return S3JournalOptions.at(
            "s3://%s/%s?endpoint=%s".formatted(place.bucket(), place.prefix(), place.endpoint()))
        .withKey(S3Server.KEY, S3Server.SECRET);
  }

  @Override
  protected JournalFixture newFixture() {
    S3JournalOptions options = newPlace().with(Retention.NONE, LEASE);
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

  private EmbeddedTaskStore open(S3JournalOptions options) {
    return TaskStore.open(
        StoreOptions.in(folder), () -> SharedJournal.open(Environment.system(), options));
  }

  private static Transaction task(String data) {
    return Transaction.by(Owner.client(1)).add("group", Bytes.of(data)).build();
  }

  @Test
  void a_standby_takes_over_with_everything_when_the_leader_ends() throws Exception {
    // Nobody waits for this lease, since the leader gives it up; it must not end before that.
    S3JournalOptions options = newPlace().with(Retention.DEFAULTS, Duration.ofSeconds(5));
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
  void stores_with_other_names_are_apart() {
    S3JournalOptions options = newPlace();
    try (EmbeddedTaskStore one = open(options.withStore("one", Set.of()));
        EmbeddedTaskStore two = open(options.withStore("two", Set.of()))) {
      one.commit(task("one"));
      assertThat(two.group(GroupQuery.all("group")).value()).isEmpty();
    }
  }

  @Test
  void what_cannot_be_used_is_said() {
    S3JournalOptions options = newPlace();
    assertThatThrownBy(() -> SharedJournal.check(options.withKey("local", "wrong")))
        .isInstanceOf(JournalException.class)
        .hasMessageContaining("access key");
    S3JournalOptions missing =
        S3JournalOptions.at("s3://no-such-bucket?endpoint=" + server.endpoint())
            .withKey(S3Server.KEY, S3Server.SECRET);
    assertThatThrownBy(() -> SharedJournal.check(missing))
        .isInstanceOf(JournalException.class)
        .hasMessageContaining("there is no bucket no-such-bucket");
    assertThat(options.toString()).doesNotContain(S3Server.SECRET);
  }

  @Test
  void addresses_that_are_wrong_are_refused() {
    assertThatThrownBy(() -> S3JournalOptions.at("s3://Bucket"))
        .isInstanceOf(JournalException.class)
        .hasMessageContaining("small letters");
    assertThatThrownBy(() -> S3JournalOptions.at("s3://bucket").withKey("id", null))
        .isInstanceOf(JournalException.class)
        .hasMessageContaining("a secret");
    assertThatThrownBy(() -> S3JournalOptions.at("s3://bucket").withStore("main", Set.of("all")))
        .hasMessageContaining("expiry");
  }
}
