package io.millrace.store.testkit.environment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions;
import io.millrace.store.Task;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Transaction;
import io.millrace.store.journal.files.FileJournal;
import io.millrace.store.journal.files.FileJournalOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A store on a simulated disk without room. */
class FullDiskTest {
  private static final Path FOLDER = Path.of("store");
  private static final FileJournalOptions SMALL = new FileJournalOptions(1 << 16, 1 << 20);

  private final SimulatedEnvironment environment = new SimulatedEnvironment(1);
  private final SimulatedDisk disk = environment.disk();
  private int acknowledged;

  private EmbeddedTaskStore open() {
    FileJournal journal = FileJournal.open(environment, FOLDER, SMALL);
    try {
      return TaskStore.open(StoreOptions.in(FOLDER).withEnvironment(environment), journal);
    } catch (StoreException e) {
      journal.close();
      throw e;
    }
  }

  private static void add(TaskStore store) {
    Bytes data = Bytes.of("x".repeat(1_000));
    store.commit(Transaction.by(Owner.client(1)).add("group", data).build()).done();
  }

  private List<Reason> fill(TaskStore store) {
    Bytes data = Bytes.of("x".repeat(1_000));
    while (true) {
      switch (store.commit(Transaction.by(Owner.client(1)).add("group", data).build())) {
        case Outcome.Done _ -> acknowledged++;
        case Outcome.Refused(Position _, long _, List<Reason> reasons) -> {
          return reasons;
        }
      }
    }
  }

  @Test
  void a_store_without_room_refuses_growth_goes_on_otherwise_and_resumes_by_itself() {
    try (EmbeddedTaskStore store = open()) {
      disk.limitTo(disk.usedBytes() + (1 << 17));
      List<Reason> reasons = fill(store);
      assertThat(reasons)
          .singleElement()
          .satisfies(reason -> {
            assertThat(reason.kind()).isEqualTo(Reason.Kind.FULL);
            assertThat(reason.message())
                .startsWith("the store accepts no growth now")
                .contains("no room for a segment of 65536 bytes in store: no space left on device");
          });
      assertThat(acknowledged).isGreaterThan(60);
      assertThat(store.disk().shortage()).contains("no space left on device");
      assertThat(store.disk().stuck()).isFalse();

      Claim claim = Claim.of(Owner.client(1), "group", Duration.ofMinutes(1));
      Task claimed = store.claim(claim).done().tasks().getFirst();
      store.commit(Transaction.by(Owner.client(1)).delete(claimed.ref()).build()).done();
      acknowledged--;

      disk.limitTo(disk.usedBytes() + (1 << 20));
      environment.advance(Duration.ofSeconds(1));
      assertThat(store.disk().shortage()).isNull();
      add(store);
      acknowledged++;
    }
    environment.cutPower();
    try (TaskStore store = open()) {
      assertThat(store.group(GroupQuery.all("group")).value()).hasSize(acknowledged);
    }
  }

  @Test
  void what_has_no_room_at_all_is_refused_before_anybody_has_to_wait() {
    try (EmbeddedTaskStore store = open()) {
      disk.limitTo(disk.usedBytes() + (1 << 17));
      fill(store);
      Outcome outcome;
      do {
        outcome = store.claim(Claim.of(Owner.client(1), "group", Duration.ZERO));
      } while (outcome instanceof Outcome.Done);
      assertThat(((Outcome.Refused) outcome).reasons())
          .singleElement()
          .satisfies(reason ->
              assertThat(reason.message()).startsWith("the journal is full for now: no room"));
      assertThat(store.group(GroupQuery.all("group")).value()).hasSize(acknowledged);
    }
    try (TaskStore store = open()) {
      assertThat(store.group(GroupQuery.all("group")).value()).hasSize(acknowledged);
    }
  }

  @Test
  void a_store_whose_commits_wait_for_room_closes_and_loses_nothing_acknowledged() {
    List<CompletableFuture<Outcome>> answers = new ArrayList<>();
    environment.scheduler().eager(false);
    EmbeddedTaskStore store = open();
    environment.runUntilIdle();
    disk.limitTo(disk.usedBytes());
    Bytes data = Bytes.of("x".repeat(10_000));
    for (int i = 0; i < 100; i++) {
      answers.add(store.submit(Transaction.by(Owner.client(1)).add("group", data).build()));
    }
    environment.runUntilIdle();
    assertThat(store.disk().stuck()).isTrue();
    assertThat(answers).anyMatch(answer -> !answer.isDone());
    store.close();
    for (CompletableFuture<Outcome> answer : answers) {
      if (answer.isCompletedExceptionally()) {
        assertThat(answer.exceptionNow()).isInstanceOf(OutcomeUnknownException.class);
      } else if (answer.resultNow() instanceof Outcome.Done) {
        acknowledged++;
      }
    }
    disk.mend();
    try (TaskStore again = open()) {
      assertThat(again.group(GroupQuery.all("group")).value())
          .hasSizeGreaterThanOrEqualTo(acknowledged);
    }
  }

  @Test
  void a_store_that_finds_no_room_for_its_first_segment_says_so_and_opens_later() {
    disk.limitTo(1_000);
    assertThatThrownBy(this::open)
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("no space left on device");
    disk.mend();
    try (TaskStore store = open()) {
      add(store);
    }
  }
}
