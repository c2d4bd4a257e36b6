package io.millrace.store.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
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
}
