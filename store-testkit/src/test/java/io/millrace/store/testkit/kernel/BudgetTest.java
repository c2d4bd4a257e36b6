package io.millrace.store.testkit.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Task;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.When;
import io.millrace.store.journal.files.FileJournal;
import io.millrace.store.journal.files.FileJournalOptions;
import io.millrace.store.kernel.EmbeddedStore;
import io.millrace.store.kernel.StoreStarter;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The memory budget of a store, and its limit of unsynced bytes. */
final class BudgetTest {
  private static final Owner ME = Owner.client(1);
  private static final Bytes DATA = Bytes.of("x".repeat(100));

  private static final Path FOLDER = Path.of("store");

  private final SimulatedEnvironment environment = new SimulatedEnvironment(1);

  private StoreOptions options() {
    return StoreOptions.in(FOLDER).withEnvironment(environment);
  }

  private GatedJournal journal() {
    return new GatedJournal(
        FileJournal.open(environment, FOLDER, new FileJournalOptions(1 << 16, 1 << 20)));
  }

  private static Limits unsynced(long bytes) {
    Limits usual = Limits.defaults();
    return new Limits(
        usual.operations(),
        usual.transactionBytes(),
        usual.dataBytes(),
        usual.nameBytes(),
        usual.requestIdBytes(),
        usual.claimCount(),
        usual.claimGroups(),
        usual.waitingClaims(),
        usual.subscribers(),
        usual.subscriberLag(),
        usual.subscriberLagBytes(),
        usual.queuedCommands(),
        usual.queuedBytes(),
        bytes,
        usual.memoryBytes());
  }

  private static Transaction add() {
    return Transaction.by(ME).add("group", DATA).build();
  }

  @Test
  void a_full_store_refuses_growth_and_nothing_else() {
    StoreOptions options = options().withLimits(Limits.defaults().withMemoryBytes(50_000));
    try (EmbeddedStore store = StoreStarter.open(options, journal())) {
      Outcome outcome = store.commit(add());
      while (outcome instanceof Outcome.Done) {
        outcome = store.commit(add());
      }
      assertThat(((Outcome.Refused) outcome).reasons())
          .extracting(Reason::kind)
          .containsExactly(Reason.Kind.FULL);
      assertThat(store.status().memoryBytes()).isBetween(40_000L, 50_000L);

      Claim claim = Claim.of(ME, "group", Duration.ofHours(1)).withCount(3);
      List<Task> tasks = store.claim(claim).done().tasks();
      Transaction larger =
          Transaction.by(ME)
              .update(tasks.get(0).ref(), Bytes.of("y".repeat(2_000)), When.now())
              .build();
      assertThat(store.commit(larger)).isInstanceOf(Outcome.Refused.class);
      store.commit(Transaction.by(ME).renew(tasks.get(0).ref(), Duration.ofHours(2)).build());
      store
          .commit(
              Transaction.by(ME).update(tasks.get(1).ref(), Bytes.of("small"), When.now()).build())
          .done();
      store.commit(Transaction.by(ME).delete(tasks.get(2).ref()).add("group", DATA).build()).done();
      assertThat(store.commit(add())).isInstanceOf(Outcome.Refused.class);

      claim = Claim.of(ME, "group", Duration.ofHours(1)).withCount(10);
      for (Task task : store.claim(claim).done().tasks()) {
        store.commit(Transaction.by(ME).delete(task.ref()).build()).done();
      }
      store.commit(add()).done();
    }
  }

  @Test
  void an_opportunistic_store_lets_answers_wait_once_its_window_is_full() {
    int window = 4_000;
    StoreOptions options =
        options().withJournaling(Journaling.OPPORTUNISTIC).withLimits(unsynced(window));
    GatedJournal journal = journal();
    try (EmbeddedStore store = StoreStarter.open(options, journal)) {
      environment.scheduler().eager(false);
      journal.hold();
      List<CompletableFuture<Outcome>> answers = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        answers.add(store.submit(add()));
      }
      environment.runUntilIdle();
      long given = answers.stream().filter(CompletableFuture::isDone).count();
      assertThat(given * DATA.size()).isBetween(window / 2L, (long) window);

      journal.release();
      for (CompletableFuture<Outcome> answer : answers) {
        assertThat(environment.await(answer)).isInstanceOf(Outcome.Done.class);
      }
    }
  }
}
