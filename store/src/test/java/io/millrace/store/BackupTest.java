package io.millrace.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore.GroupQuery;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BackupTest {
  private static final Owner ME = Owner.client(1);

  private static void add(TaskStore store, String data) {
    store.commit(Transaction.by(ME).add("map", data).build()).done();
  }

  @Test
  void a_restored_store_holds_the_backup_and_goes_on_under_a_new_history(@TempDir Path folder) {
    ByteArrayOutputStream backup = new ByteArrayOutputStream();
    Position saved;
    Position later;
    try (EmbeddedTaskStore store = TaskStore.open(StoreOptions.in(folder.resolve("old")))) {
      add(store, "kept");
      saved = store.backup(backup);
      add(store, "after the backup");
      later = store.groups().position();
    }
    Path restored = folder.resolve("new");
    assertThat(TaskStore.restore(restored, new ByteArrayInputStream(backup.toByteArray())))
        .isEqualTo(saved.number());
    Position history;
    try (EmbeddedTaskStore store = TaskStore.open(StoreOptions.in(restored))) {
      assertThat(store.group(GroupQuery.all("map")).value())
          .extracting(task -> task.data().utf8())
          .containsExactly("kept");
      history = store.groups().position();
      assertThat(history.history()).isNotEqualTo(saved.history());
      store.subscribe(Interest.everything().after(saved)).close();
      assertThatThrownBy(() -> store.subscribe(Interest.everything().after(later)))
          .isInstanceOf(PositionLostException.class);
      add(store, "another way");
    }
    try (EmbeddedTaskStore store = TaskStore.open(StoreOptions.in(restored))) {
      assertThat(store.groups().position().history())
          .as("a plain restart stays in its history")
          .isEqualTo(history.history());
    }
  }
}
