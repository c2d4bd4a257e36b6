package io.millrace.store.testkit.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.Transaction;
import io.millrace.store.journal.files.FileJournal;
import io.millrace.store.journal.files.FileJournalOptions;
import io.millrace.store.kernel.EmbeddedStore;
import io.millrace.store.kernel.StoreStarter;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Snapshots that cannot begin or end. */
final class FailingSnapshotTest {
  private static final Path FOLDER = Path.of("store");

  private final SimulatedEnvironment environment = new SimulatedEnvironment(1);
  private GatedJournal journal;
  private EmbeddedStore store;

  @BeforeEach
  void open() {
    journal =
        new GatedJournal(
            FileJournal.open(environment, FOLDER, new FileJournalOptions(1 << 16, 1 << 20)));
    store =
        StoreStarter.open(
            StoreOptions.in(FOLDER).withEnvironment(environment).withSnapshotEvery(10), journal);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private void commit(int times) {
    for (int i = 0; i < times; i++) {
      store.commit(Transaction.by(Owner.client(1)).add("group", "task").build()).done();
    }
  }

  private void awaitSnapshot() {
    environment.runUntilIdle();
  }

  @Test
  void one_that_cannot_begin_leaves_the_count_as_it_was_and_is_tried_again_after_a_minute() {
    journal.errorAtSnapshot = new LinkageError("no snapshot");
    commit(10);
    assertThat(journal.snapshots).isEqualTo(1);
    assertThat(store.disk().snapshotFailure()).isEqualTo("no snapshot");
    commit(50);
    assertThat(journal.snapshots).as("not tried at every commit").isEqualTo(1);

    environment.advance(Duration.ofMinutes(1));
    commit(1);
    assertThat(journal.snapshots).isEqualTo(2);

    journal.errorAtSnapshot = null;
    environment.advance(Duration.ofMinutes(1));
    commit(1);
    awaitSnapshot();
    assertThat(store.status().snapshots()).isEqualTo(1);
    assertThat(store.disk().snapshotFailure()).isNull();
    commit(9);
    assertThat(journal.snapshots).as("the count begins at the one that was written").isEqualTo(3);
    commit(1);
    assertThat(journal.snapshots).isEqualTo(4);
  }

  @Test
  void an_error_while_one_is_written_does_not_prevent_the_next() {
    journal.errorInSnapshot = new StackOverflowError("a part");
    commit(10);
    awaitSnapshot();
    assertThat(store.disk().snapshotFailure()).isEqualTo("a part");

    journal.errorInSnapshot = null;
    environment.advance(Duration.ofMinutes(1));
    commit(1);
    awaitSnapshot();
    assertThat(store.status().snapshots()).isEqualTo(1);
  }

  @Test
  void a_request_does_not_wait_for_the_minute_to_be_over() {
    journal.errorAtSnapshot = new LinkageError("no snapshot");
    commit(10);
    journal.errorAtSnapshot = null;
    store.requestSnapshot();
    commit(1);
    awaitSnapshot();
    assertThat(store.status().snapshots()).isEqualTo(1);
  }
}
