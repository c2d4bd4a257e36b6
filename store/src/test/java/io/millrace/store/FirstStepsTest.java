package io.millrace.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The five lines that the README shows. */
class FirstStepsTest {
  @Test
  void a_task_is_added_claimed_and_finished(@TempDir Path folder) {
    Owner me = Owner.client(42);
    try (TaskStore store = TaskStore.open(StoreOptions.in(folder))) {
      store.commit(Transaction.by(me).add("map", "/path/to/file:0:1024").build()).done();
      Task task = store.claim(Claim.of(me, "map", Duration.ofMinutes(1))).done().tasks().getFirst();
      store.commit(Transaction.by(me).delete(task.ref()).add("reduce", task.data()).build()).done();

      assertThat(store.groups().value()).extracting(GroupSummary::name).containsExactly("reduce");
    }
  }

  @Test
  void what_was_committed_is_there_after_a_restart(@TempDir Path folder) {
    Owner me = Owner.client(42);
    String digest;
    try (EmbeddedTaskStore store = TaskStore.open(StoreOptions.in(folder))) {
      for (int i = 0; i < 100; i++) {
        store.commit(Transaction.by(me).add("map", "task " + i).requestId("r" + i).build()).done();
      }
      for (int i = 0; i < 50; i++) {
        Claim claim = Claim.of(me, "map", Duration.ofHours(1));
        Task task = store.claim(claim).done().tasks().getFirst();
        if (i % 2 == 0) {
          store.commit(Transaction.by(me).delete(task.ref()).build()).done();
        }
      }
      digest = store.digest().value();
    }
    try (EmbeddedTaskStore store = TaskStore.open(StoreOptions.in(folder))) {
      assertThat(store.digest().value()).isEqualTo(digest);
      assertThat(store.group(GroupQuery.all("map")).value()).hasSize(75);
      assertThat(store.group(GroupQuery.waiting("map")).value()).hasSize(50);
    }
  }
}
