package io.millrace.store.kernel;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.StandbyStore.TooStaleException;
import io.millrace.store.StoreOptions;
import io.millrace.store.Task;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.Add;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.When;
import io.millrace.store.kernel.state.Listings;
import io.millrace.store.kernel.state.State;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads of a replica while it follows. */
class ReplicaReadsTest {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Owner CLIENT = Owner.client(1);
  private final MemoryJournal journal = new MemoryJournal();
  @TempDir private Path folder;

  private Replica replica(StoreOptions options) {
    return new Replica(options, journal, 4);
  }

  private static List<String> groups(Replica replica, Duration bound) {
    return replica.read(bound, null, State::freezeSummaries).read().value().stream()
        .map(GroupSummary::toString)
        .toList();
  }

  @Test
  void a_read_has_all_that_was_there_when_the_last_read_of_the_journal_began() {
    FixedEnvironment environment = new FixedEnvironment(1);
    StoreOptions options = StoreOptions.in(folder).withEnvironment(environment);
    try (EmbeddedTaskStore store = TaskStore.open(options, journal)) {
      Replica replica = replica(options);
      assertThatThrownBy(() -> groups(replica, SECOND))
          .isInstanceOf(TooStaleException.class)
          .hasMessageContaining("does not follow");
      Position before = store.commit(Transaction.by(CLIENT).add("one", "a").build()).position();
      replica.follow();
      environment.advance(700);
      Position after = store.commit(Transaction.by(CLIENT).add("two", "b").build()).position();

      Replica.Aged<Integer> aged = replica.read(SECOND, before, State::taskCount);
      assertThat(aged.read().value()).isOne();
      assertThat(aged.read().position()).isEqualTo(before);
      assertThat(Duration.ofNanos(aged.ageNanos())).isEqualTo(Duration.ofMillis(700));
      assertThatThrownBy(() -> replica.read(SECOND, after, State::taskCount))
          .isInstanceOf(TooStaleException.class)
          .hasMessageContaining("does not have " + after);
      assertThatThrownBy(() -> replica.read(SECOND, new Position(17, 0), State::taskCount))
          .isInstanceOf(TooStaleException.class);
      environment.advance(301);
      assertThatThrownBy(() -> groups(replica, SECOND))
          .isInstanceOf(TooStaleException.class)
          .hasMessageContaining("for 1s");
      replica.follow();
      assertThat(replica.read(Duration.ZERO, after, State::taskCount).read().value()).isEqualTo(2);
    }
  }

  @Test
  void what_comes_by_time_alone_is_seen_without_a_commit() {
    FixedEnvironment environment = new FixedEnvironment(1);
    StoreOptions options = StoreOptions.in(folder).withEnvironment(environment);
    try (EmbeddedTaskStore store = TaskStore.open(options, journal)) {
      store.commit(
          Transaction.by(CLIENT)
              .add(new Add("later", Bytes.of("a"), When.after(Duration.ofHours(1)), false, null))
              .build());
      Replica replica = replica(options);
      replica.follow();
      assertThat(groups(replica, SECOND)).singleElement().asString().contains("delayed=1");
      environment.advance(Duration.ofMinutes(61).toMillis());
      replica.follow();
      assertThat(groups(replica, SECOND)).singleElement().asString().contains("waiting=1");
      assertThat(replica.read(SECOND, null, State::commits).read().timeMillis())
          .isEqualTo(store.tasks(List.of()).timeMillis());
    }
  }

  @Test
  void nothing_is_read_of_a_replica_that_leads() {
    StoreOptions options = StoreOptions.in(folder);
    try (EmbeddedTaskStore store = TaskStore.open(options, journal)) {
      store.commit(Transaction.by(CLIENT).add("one", "a").build());
    }
    Replica replica = replica(options);
    replica.follow();
    assertThat(groups(replica, SECOND)).hasSize(1);
    try (EmbeddedTaskStore _ = replica.promote()) {
      assertThatThrownBy(() -> groups(replica, SECOND)).isInstanceOf(TooStaleException.class);
    }
  }

  /** Each commit changes all documents, and replaces all tasks; a read must see one of them. */
  @Test
  void reads_see_whole_commits_while_frames_are_applied() throws Exception {
    StoreOptions options = StoreOptions.in(folder).withEnvironment(new FixedEnvironment(1));
    AtomicBoolean over = new AtomicBoolean();
    try (EmbeddedTaskStore store = TaskStore.open(options, journal);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      commit(store, 0, List.of());
      Replica replica = replica(options);
      replica.follow();
      List<Future<Long>> readers = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        readers.add(threads.submit(() -> readUntil(over, replica)));
      }
      Future<Long> follower =
          threads.submit(() -> {
            long followed = 0;
            while (!over.get()) {
              followed = replica.follow();
            }
            return followed;
          });
      List<Task> tasks = store.group(GroupQuery.all("group")).value();
      for (int value = 1; value < 500; value++) {
        tasks = commit(store, value, tasks);
      }
      over.set(true);
      assertThat(follower.get()).isPositive();
      for (Future<Long> reader : readers) {
        assertThat(reader.get()).isPositive();
      }
      replica.follow();
      assertThat(replica.read(SECOND, null, State::commits).read().value()).isEqualTo(500);
    }
  }

  private static List<Task> commit(TaskStore store, int value, List<Task> before) {
    Transaction.Builder all = Transaction.by(CLIENT);
    before.forEach(task -> all.delete(task.ref()));
    for (int i = 0; i < 20; i++) {
      all.put(new DocumentKey("all", "k" + i), DocumentVersion.ANY, Bytes.of("" + value));
      all.add("group", Bytes.of("" + value));
    }
    return store.commit(all.build()).done().tasks();
  }

  /** Reads until the end; returns the number of commits seen last. */
  private static long readUntil(AtomicBoolean over, Replica replica) {
    long last = 0;
    while (!over.get()) {
      var documents = replica.read(SECOND, null, State::freezeDocuments).read();
      List<Document> found = Listings.documents(documents.value(), DocumentQuery.prefix("all", ""));
      String value = Long.toString(documents.position().number() - 1);
      assertThat(found).hasSize(20).allMatch(each -> each.body().utf8().equals(value));
      var group =
          replica.read(SECOND, null, state -> requireNonNull(state.freezeGroup("group"))).read();
      String ofGroup = Long.toString(group.position().number() - 1);
      assertThat(Listings.tasks(group.value(), GroupQuery.all("group"), group.timeMillis()))
          .hasSize(20)
          .allMatch(task -> task.data().utf8().equals(ofGroup));
      long id = group.value().waiting().getFirst().id();
      assertThat(replica.read(SECOND, null, state -> state.taskCount()).read().value())
          .isEqualTo(20);
      assertThat(id).isPositive();
      assertThat(group.position().number()).isGreaterThanOrEqualTo(last);
      last = group.position().number();
    }
    return last;
  }
}
