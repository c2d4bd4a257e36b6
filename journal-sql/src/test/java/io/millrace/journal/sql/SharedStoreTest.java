package io.millrace.journal.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.journal.shared.Head;
import io.millrace.journal.shared.SharedJournal;
import io.millrace.store.Bytes;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Owner;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Transaction;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.FencedException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal.Leader;
import io.millrace.store.journal.Journal.Pulse;
import io.millrace.store.journal.Journal.Replay;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two stores on one journal: one leads, and the other waits, takes over, or fences it. */
final class SharedStoreTest {
  @TempDir private Path folder;

  private SharedJournal journal() {
    return SharedJournal.open(Environment.system(), journalOptions());
  }

  private SqlJournalOptions journalOptions() {
    return SqlJournalOptions.at("jdbc:sqlite:" + folder.resolve("store.db"))
        .withLease(Duration.ofMillis(1_500));
  }

  private StoreOptions options() {
    return StoreOptions.in(folder);
  }

  private static Transaction task(String data) {
    return Transaction.by(Owner.client(1)).add("group", Bytes.of(data)).build();
  }

  @Test
  void a_standby_waits_while_the_leader_lives_and_takes_over_when_it_ends() throws Exception {
    CompletableFuture<EmbeddedTaskStore> second;
    try (EmbeddedTaskStore first = TaskStore.open(options(), this::journal)) {
      first.commit(task("one"));
      second = CompletableFuture.supplyAsync(() -> TaskStore.open(options(), this::journal));
      assertThatThrownBy(() -> second.get(3, TimeUnit.SECONDS))
          .isInstanceOf(TimeoutException.class);
      first.commit(task("two"));
    }
    try (EmbeddedTaskStore next = second.get(20, TimeUnit.SECONDS)) {
      assertThat(next.group(GroupQuery.all("group")).value()).hasSize(2);
      next.commit(task("three"));
    }
  }

  @Test
  void a_leader_that_is_fenced_stops_and_answers_nothing_more() throws Exception {
    try (EmbeddedTaskStore first = TaskStore.open(options(), journal())) {
      first.commit(task("one"));
      try (EmbeddedTaskStore next = fencing()) {
        next.commit(task("two"));
        assertThatThrownBy(() -> first.commit(task("three")))
            .isInstanceOf(StoreClosedException.class);
        assertThat(first.stopped().get(20, TimeUnit.SECONDS)).isInstanceOf(FencedException.class);
        assertThat(next.group(GroupQuery.all("group")).value()).hasSize(2);
      }
    }
  }

  /** A store that leads although another one does; it fails if that one renews meanwhile. */
  private EmbeddedTaskStore fencing() {
    while (true) {
      SharedJournal own = journal();
      try {
        return TaskStore.open(options(), own);
      } catch (FencedException _) {
        own.close();
      }
    }
  }

  @Test
  void a_standby_does_not_begin_if_the_leader_has_renewed_its_lease_meanwhile() throws Exception {
    try (EmbeddedTaskStore first = TaskStore.open(options(), journal());
        SharedJournal before = journal();
        SharedJournal after = journal();
        JdbcDatabase database = new JdbcDatabase(journalOptions())) {
      first.commit(task("one"));
      Pulse last = before.pulse();
      assertThat(last.vacant()).isFalse();
      long sequence = after.follow(IGNORED, 0);
      Leader begun = after.lead(IGNORED, sequence);

      Head head = database.head();
      assertThat(database.renew(head.chain().epoch(), head.writer())).isTrue();

      assertThatThrownBy(() -> before.lead(IGNORED, 0)).isInstanceOf(FencedException.class);
      Frame epoch =
          new Frame(
              sequence + 1,
              head.chain().epoch() + 1,
              1,
              head.chain().timeMillis(),
              sequence,
              head.chain().position(),
              ByteBuffer.allocate(0));
      assertThatThrownBy(() -> begun.append(epoch).get(20, TimeUnit.SECONDS))
          .cause()
          .isInstanceOf(FencedException.class)
          .hasMessage("another server leads the store in " + journalOptions());
      first.commit(task("two"));
    }
  }

  private static final Replay IGNORED =
      new Replay() {
        @Override
        public Runnable snapshotPart(ByteBuffer payload) {
          return () -> {};
        }

        @Override
        public void reset() {}

        @Override
        public void frame(Frame frame) {}
      };
}
