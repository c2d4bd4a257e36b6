package io.millrace.store.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Claim;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.StoreBusyException;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Transaction;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Commands that share one wake-up of the store. */
@Timeout(60)
class EnqueueTest {
  private static final Transaction ADD =
      Transaction.by(Owner.client(1)).add("group", "task").build();

  @TempDir private Path folder;

  @Test
  void one_wake_sees_to_everything_that_was_enqueued() throws Exception {
    try (EmbeddedTaskStore store = TaskStore.open(StoreOptions.in(folder))) {
      for (int round = 0; round < 200; round++) {
        List<CompletableFuture<Outcome>> answers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
          answers.add(store.enqueue(ADD));
        }
        store.wake();
        for (CompletableFuture<Outcome> answer : answers) {
          answer.get().done();
        }
      }
      store.wake();
      assertThat(store.status().tasks()).isEqualTo(1_000);
    }
  }

  @Test
  void what_is_enqueued_too_late_hears_that_the_store_is_closed() {
    EmbeddedTaskStore store = TaskStore.open(StoreOptions.in(folder));
    store.close();
    CompletableFuture<Outcome> answer = store.enqueue(ADD);
    store.wake();
    assertThatThrownBy(answer::get)
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(StoreClosedException.class);
  }

  @Test
  void a_command_is_seen_to_although_nobody_wakes_the_store_for_those_before_it() throws Exception {
    try (EmbeddedTaskStore store = TaskStore.open(StoreOptions.in(folder))) {
      for (int round = 0; round < 200; round++) {
        CompletableFuture<Outcome> forgotten = store.enqueue(ADD);
        store.submit(ADD).get(30, TimeUnit.SECONDS).done();
        assertThat(forgotten.get(30, TimeUnit.SECONDS)).isInstanceOf(Outcome.Done.class);
      }
    }
  }

  @Test
  void more_than_may_wait_is_refused_as_busy_while_blocking_calls_wait_for_room() throws Exception {
    StoreOptions options =
        StoreOptions.in(folder).withLimits(Limits.defaults().withQueued(3, 1 << 20));
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch stuck = new CountDownLatch(1);
    try (EmbeddedTaskStore store = TaskStore.open(options);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var _ =
          store
              .submit(
                  Claim.of(Owner.client(1), "held", Duration.ZERO).withWait(Duration.ofHours(1)))
              .thenRun(() -> hold(held, stuck));
      store.commit(Transaction.by(Owner.client(1)).add("held", "").build()).done();
      held.await();
      List<CompletableFuture<Outcome>> taken =
          List.of(store.submit(ADD), store.enqueue(ADD), store.enqueue(ADD));
      for (CompletableFuture<Outcome> tooMany : List.of(store.submit(ADD), store.enqueue(ADD))) {
        assertThatThrownBy(tooMany::get)
            .isInstanceOf(ExecutionException.class)
            .hasCauseInstanceOf(StoreBusyException.class)
            .hasMessageContaining("3 commands or 1048576 bytes");
      }
      List<Future<Outcome>> waiting = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        waiting.add(threads.submit(() -> store.commit(ADD)));
      }
      assertThat(taken).noneMatch(Future::isDone);
      stuck.countDown();
      for (Future<Outcome> answer : taken) {
        answer.get().done();
      }
      for (Future<Outcome> answer : waiting) {
        answer.get().done();
      }
      assertThat(store.group(GroupQuery.all("group")).value()).hasSize(13);
    }
  }

  /** Keeps the store's thread, as a callback should not. */
  private static void hold(CountDownLatch held, CountDownLatch stuck) {
    held.countDown();
    try {
      stuck.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
