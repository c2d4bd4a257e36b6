package io.millrace.store.testkit.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Bytes;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.StoreOptions;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.Transaction;
import io.millrace.store.environment.Folder;
import io.millrace.store.journal.Retention;
import io.millrace.store.journal.files.FileJournal;
import io.millrace.store.journal.files.FileJournalOptions;
import io.millrace.store.kernel.EmbeddedStore;
import io.millrace.store.kernel.StoreStarter;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** How far back a subscriber can start after snapshots have replaced the older journal. */
final class RetentionTest {
  private static final Owner ME = Owner.client(1);
  private static final int SEGMENT = 1 << 16;

  private static final Path FOLDER = Path.of("store");

  private final SimulatedEnvironment environment = new SimulatedEnvironment(1);

  private EmbeddedStore open(Retention retention) {
    FileJournalOptions small = new FileJournalOptions(SEGMENT, 1 << 20, retention);
    return StoreStarter.open(
        StoreOptions.in(FOLDER).withEnvironment(environment),
        FileJournal.open(environment, FOLDER, small));
  }

  /** Fills more than a segment, some of it each minute, and ends with a whole snapshot. */
  private void work(Retention retention) {
    try (EmbeddedStore store = open(retention)) {
      for (int i = 0; i < 6; i++) {
        environment.advance(Duration.ofMinutes(1));
        store.commit(Transaction.by(ME).add("group", Bytes.of("x".repeat(SEGMENT / 4))).build());
      }
      store.requestSnapshot();
      store.commit(Transaction.by(ME).add("group", "begins the snapshot").build());
    }
  }

  private long segments() throws IOException {
    try (Folder folder = environment.disk().open(FOLDER)) {
      return folder.list().stream().filter(name -> name.endsWith(".segment")).count();
    }
  }

  /** How many of the commits, counted from the end, a subscriber can be given. */
  private long reach(Retention retention) throws InterruptedException {
    try (EmbeddedStore store = open(retention)) {
      Position end = store.groups().position();
      for (long from = 0; from < end.number(); from++) {
        Position after = new Position(end.history(), from);
        try (Subscription subscription = store.subscribe(Interest.everything().after(after))) {
          assertThat(Objects.requireNonNull(subscription.next(Duration.ofSeconds(10))).position())
              .isEqualTo(new Position(end.history(), from + 1));
          return end.number() - from;
        } catch (PositionLostException e) {
          assertThat(e.why()).isEqualTo(PositionLostException.Why.GONE);
          assertThat(e).hasMessageContaining("no longer kept");
        }
      }
      return 0;
    }
  }

  @Test
  void an_old_position_can_be_followed_after_many_snapshots_while_the_journal_is_small_enough()
      throws InterruptedException {
    Retention large = new Retention(100L * SEGMENT, Duration.ofDays(1));
    for (int i = 0; i < 5; i++) {
      work(large);
    }
    assertThat(reach(large)).isEqualTo(35);
  }

  @Test
  void what_exceeds_the_bytes_goes_from_the_oldest_on() throws InterruptedException, IOException {
    Retention retention = new Retention(8L * SEGMENT, Duration.ofDays(1));
    for (int i = 0; i < 8; i++) {
      work(retention);
    }
    assertThat(segments()).isBetween(7L, 9L);
    assertThat(reach(retention)).isBetween(14L, 35L);
  }

  @Test
  void what_is_too_old_goes_however_small_it_is() throws InterruptedException {
    Retention retention = new Retention(Long.MAX_VALUE, Duration.ofMinutes(20));
    for (int i = 0; i < 8; i++) {
      work(retention);
    }
    // Six commits in six minutes; a segment holds about three of them, and its last one counts.
    assertThat(reach(retention)).isBetween(20L, 30L);
  }

  @Test
  void without_retention_only_what_a_restart_needs_is_kept() throws InterruptedException {
    for (int i = 0; i < 5; i++) {
      work(Retention.NONE);
    }
    assertThat(reach(Retention.NONE)).isBetween(7L, 16L);
  }

  @Test
  void a_negative_retention_is_refused() {
    assertThatThrownBy(() -> new Retention(-1, Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Retention(0, Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
