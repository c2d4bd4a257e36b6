package io.millrace.store.testkit.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Claim;
import io.millrace.store.Outcome;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Owner;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Driver;
import io.millrace.store.journal.files.FileJournal;
import io.millrace.store.journal.files.FileJournalOptions;
import io.millrace.store.kernel.EmbeddedStore;
import io.millrace.store.kernel.StoreStarter;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The answers to callers when the disk fails. */
final class StoppedStoreTest {
  private static final Owner ME = Owner.client(1);

  private static final Path FOLDER = Path.of("store");

  private final SimulatedEnvironment environment = new SimulatedEnvironment(1);
  private GatedJournal journal;
  private EmbeddedStore store;

  @BeforeEach
  void open() {
    environment.scheduler().eager(false);
    journal =
        new GatedJournal(
            FileJournal.open(environment, FOLDER, new FileJournalOptions(1 << 16, 1 << 20)));
    store =
        StoreStarter.open(
            StoreOptions.in(FOLDER).withEnvironment(environment).withLimits(Limits.defaults()),
            journal);
  }

  @AfterEach
  void close() {
    store.close();
  }

  /** Breaks the disk as soon as nothing else is left to do. */
  private void failWhenBlocked() {
    environment.scheduler().hold("breaker", Duration.ofDays(1));
    Driver _ =
        environment.drive(
            "breaker",
            () -> {
              journal.fail();
              return Activity.FINISHED;
            });
  }

  private static Transaction add() {
    return Transaction.by(ME).add("group", "task").build();
  }

  @Test
  void whoever_waits_for_a_broken_disk_never_hears_a_refusal() {
    journal.hold();
    List<CompletableFuture<Outcome>> decided =
        List.of(
            store.submit(add()),
            store.submit(Transaction.by(ME).delete(TaskRef.id(4711)).build()),
            store.submit(Claim.of(ME, "empty", Duration.ofMinutes(1))),
            store.submit(Claim.of(ME, "group", Duration.ofMinutes(1))));
    CompletableFuture<Outcome> parked =
        store.submit(Claim.of(ME, "empty", Duration.ZERO).withWait(Duration.ofHours(1)));
    environment.runUntilIdle();
    assertThat(decided).noneMatch(CompletableFuture::isDone);

    journal.fail();
    CompletableFuture<Outcome> late = store.submit(add());
    environment.runUntilIdle();

    assertThat(decided)
        .allSatisfy(answer ->
            assertThatThrownBy(answer::join).hasCauseInstanceOf(OutcomeUnknownException.class));
    assertThatThrownBy(late::join).hasCauseInstanceOf(StoreClosedException.class);
    assertThatThrownBy(parked::join).hasCauseInstanceOf(StoreClosedException.class);
  }

  @Test
  void a_write_that_fails_on_the_store_s_own_thread_stops_it_too() {
    journal.failAtOnce();
    CompletableFuture<Outcome> decided = store.submit(add());
    environment.runUntilIdle();

    assertThat(decided).isCompletedExceptionally();
    assertThatThrownBy(decided::join).hasCauseInstanceOf(OutcomeUnknownException.class);
  }

  @Test
  void a_read_that_saw_what_was_never_written_has_no_answer() {
    journal.hold();
    CompletableFuture<Outcome> answer = store.submit(add());
    failWhenBlocked();

    assertThatThrownBy(() -> store.groups()).isInstanceOf(OutcomeUnknownException.class);
    assertThatThrownBy(answer::join).hasCauseInstanceOf(OutcomeUnknownException.class);
  }

  @Test
  void a_stopped_store_answers_that_it_is_closed() {
    Subscription subscription = store.subscribe(Interest.everything());
    journal.hold();
    CompletableFuture<Outcome> lost = store.submit(add());
    environment.runUntilIdle();
    journal.fail();
    environment.runUntilIdle();
    assertThat(lost).isCompletedExceptionally();

    assertThatThrownBy(() -> store.commit(add())).isInstanceOf(StoreClosedException.class);
    assertThatThrownBy(() -> store.groups()).isInstanceOf(StoreClosedException.class);
    assertThatThrownBy(() -> store.status()).isInstanceOf(StoreClosedException.class);
    assertThatThrownBy(() -> store.digest()).isInstanceOf(StoreClosedException.class);
    assertThatThrownBy(() -> store.subscribe(Interest.everything()))
        .isInstanceOf(StoreClosedException.class);
    assertThatThrownBy(() -> subscription.next(Duration.ofSeconds(10)))
        .isInstanceOf(StoreClosedException.class);
    subscription.close();
  }

  @Test
  void a_snapshot_that_waits_for_a_broken_disk_does_not_keep_the_store_from_closing() {
    journal.hold();
    CompletableFuture<Outcome> answer = store.submit(add());
    failWhenBlocked();

    assertThatThrownBy(() -> store.requestSnapshot()).isInstanceOf(OutcomeUnknownException.class);
    assertThat(answer).isCompletedExceptionally();
    // The store closes after each test.
  }

  @Test
  void an_error_while_a_command_is_decided_leaves_nobody_waiting() {
    CompletableFuture<Outcome> parked =
        store.submit(Claim.of(ME, "empty", Duration.ZERO).withWait(Duration.ofHours(1)));
    environment.runUntilIdle();
    CompletableFuture<Throwable> stopped = store.stopped();
    assertThat(stopped).isNotDone();
    journal.errorInDecision = new StackOverflowError("a decision");
    CompletableFuture<Outcome> decided = store.submit(add());
    CompletableFuture<Outcome> behind = store.submit(add());
    environment.runUntilIdle();

    assertThatThrownBy(decided::join)
        .hasCauseInstanceOf(OutcomeUnknownException.class)
        .hasMessageContaining("a decision");
    assertThatThrownBy(behind::join)
        .hasCauseInstanceOf(StoreClosedException.class)
        .hasMessageContaining("a decision");
    assertThatThrownBy(parked::join).hasCauseInstanceOf(StoreClosedException.class);
    assertThatThrownBy(() -> store.commit(add())).hasMessageContaining("a decision");
    assertThat(stopped).isCompletedWithValue(journal.errorInDecision);
  }

  @Test
  void a_store_that_is_closed_in_order_has_not_stopped_by_itself() {
    store.close();
    assertThat(store.stopped()).isNotDone();
  }
}
