package io.millrace.store.testkit.environment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Bytes;
import io.millrace.store.GroupQuery;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Owner;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.store.journal.FileJournal;
import io.millrace.store.journal.FileJournalOptions;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** A store on a simulated disk without room. */
class FullDiskTest {
  private static final Path FOLDER = Path.of("store");
  private static final FileJournalOptions SMALL = new FileJournalOptions(1 << 16, 1 << 20);

  private final SimulatedEnvironment environment = new SimulatedEnvironment(1);
  private final SimulatedDisk disk = environment.disk();

  private TaskStore open() {
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

  @Test
  void a_store_without_room_stops_loses_nothing_and_opens_when_there_is_room() {
    int acknowledged = 0;
    String said = "";
    try (TaskStore store = open()) {
      disk.limitTo(disk.usedBytes() + (1 << 17));
      while (said.isEmpty()) {
        try {
          add(store);
          acknowledged++;
        } catch (OutcomeUnknownException e) {
          said = String.valueOf(e.getMessage());
        }
      }
      assertThat(said).contains("no space left on device");
      assertThatThrownBy(() -> add(store))
          .isInstanceOf(StoreClosedException.class)
          .hasMessageContaining("no space left on device");
    }
    assertThat(acknowledged).isGreaterThan(60);

    disk.mend();
    try (TaskStore store = open()) {
      assertThat(store.group(GroupQuery.all("group")).value())
          .hasSizeBetween(acknowledged, acknowledged + 1);
      add(store);
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
