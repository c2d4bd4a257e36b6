package io.millrace.store.testkit.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.environment.DiskFile;
import io.millrace.store.environment.Folder;
import io.millrace.store.journal.files.FileJournal;
import io.millrace.store.journal.files.FileJournalOptions;
import io.millrace.store.kernel.StoreCheck;
import io.millrace.store.kernel.StoreStarter;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A strict store whose journal has lost its end never uses an id or a position again. */
final class CutTailTest {
  private static final Path FOLDER = Path.of("store");
  private static final String SEGMENT = "0000000000000001.segment";
  private static final Owner ME = Owner.client(1);
  private static final int COMMITS = 60;

  private final SimulatedEnvironment environment = new SimulatedEnvironment(1);
  private final List<Long> ids = new ArrayList<>();
  private final List<Position> positions = new ArrayList<>();

  private EmbeddedTaskStore open() {
    return open(Journaling.STRICT);
  }

  private EmbeddedTaskStore open(Journaling journaling) {
    StoreOptions options =
        StoreOptions.in(FOLDER).withEnvironment(environment).withJournaling(journaling);
    FileJournal journal =
        FileJournal.open(environment, FOLDER, new FileJournalOptions(1 << 16, 1 << 20));
    try {
      return StoreStarter.open(options, journal);
    } catch (RuntimeException e) {
      journal.close();
      throw e;
    }
  }

  private long add(EmbeddedTaskStore store) {
    return store
        .commit(Transaction.by(ME).add("group", "data").build())
        .done()
        .tasks()
        .getFirst()
        .id();
  }

  private void fill(int commits) {
    // Killed, not closed: the last frame is a commit.
    EmbeddedTaskStore store = open();
    for (int i = 0; i < commits; i++) {
      ids.add(add(store));
      positions.add(store.groups().position());
    }
    environment.runUntilIdle();
    environment.disk().crash();
    environment.scheduler().abandon();
  }

  /** Where the bytes end that are not zeros. */
  private int end() throws IOException {
    byte[] content = content();
    int end = content.length;
    while (content[end - 1] == 0) {
      end--;
    }
    return end;
  }

  private byte[] content() throws IOException {
    try (Folder folder = environment.disk().open(FOLDER);
        DiskFile file = folder.read(SEGMENT)) {
      ByteBuffer content = ByteBuffer.allocate((int) file.size());
      file.read(0, content);
      return content.array();
    }
  }

  private void flip(int at) throws IOException {
    byte flipped = (byte) (content()[at] ^ 1);
    try (Folder folder = environment.disk().open(FOLDER);
        DiskFile file = folder.open(SEGMENT)) {
      file.write(at, ByteBuffer.wrap(new byte[] {flipped}));
      file.sync();
    }
  }

  /** Overwrites bytes, so that no frame among them can be read. */
  private void spoil(int from, int to) throws IOException {
    byte[] rubbish = new byte[to - from];
    Arrays.fill(rubbish, (byte) 7);
    try (Folder folder = environment.disk().open(FOLDER);
        DiskFile file = folder.open(SEGMENT)) {
      file.write(from, ByteBuffer.wrap(rubbish));
      file.sync();
    }
  }

  private void truncate(int size) throws IOException {
    truncate(SEGMENT, size);
  }

  private void truncate(String name, int size) throws IOException {
    try (Folder folder = environment.disk().open(FOLDER);
        DiskFile file = folder.open(name)) {
      file.truncate(size);
      file.sync();
    }
  }

  private void expectNothingUsedAgain() {
    Position last = positions.getLast();
    Position end;
    try (EmbeddedTaskStore store = open()) {
      end = store.groups().position();
      assertThat(end.number()).isLessThan(last.number());
      assertThat(end.history()).isNotEqualTo(last.history());
      for (Position position : positions) {
        if (position.number() <= end.number()) {
          store.subscribe(Interest.everything().after(position)).close();
        } else {
          assertThatThrownBy(() -> store.subscribe(Interest.everything().after(position)))
              .isInstanceOfSatisfying(
                  PositionLostException.class,
                  e -> assertThat(e.why()).isEqualTo(PositionLostException.Why.OTHER_HISTORY));
        }
      }
      assertThat(add(store)).isGreaterThan(ids.getLast() + (1L << 31));
      assertThat(store.tasks(List.of(TaskRef.id(ids.getLast()))).value().getFirst()).isEmpty();
    }
    try (EmbeddedTaskStore store = open()) {
      assertThat(store.groups().position())
          .as("a restart after that stays in its history")
          .isNotEqualTo(end)
          .extracting(Position::history)
          .isEqualTo(end.history());
    }
  }

  @Test
  void a_flipped_bit_in_the_last_frame_begins_a_new_history() throws IOException {
    fill(COMMITS);
    flip(end() - 8);
    expectNothingUsedAgain();
  }

  @Test
  void a_last_segment_without_its_last_bytes_begins_a_new_history() throws IOException {
    fill(COMMITS);
    truncate(end() - 700);
    expectNothingUsedAgain();
  }

  @Test
  void a_segment_that_ends_between_two_frames_begins_a_new_history() throws IOException {
    fill(COMMITS);
    int one = 4096;
    byte[] content = content();
    // The magic of the last frame: the file ends just before it.
    for (int at = 4096; at < end(); at += 8) {
      one = ByteBuffer.wrap(content).getInt(at) == 0x4d524652 ? at : one;
    }
    truncate(one);
    expectNothingUsedAgain();
  }

  @Test
  void a_first_segment_without_any_frame_begins_a_new_history() throws IOException {
    fill(COMMITS);
    truncate(4096);
    expectNothingUsedAgain();
  }

  @Test
  void the_new_history_begins_even_if_the_start_that_found_the_damage_dies_at_any_point()
      throws IOException {
    boolean opened = false;
    for (int stop = 1; !opened; stop++) {
      ids.clear();
      positions.clear();
      fill(5);
      int end = end();
      flip(end - 8);
      environment.disk().cutPowerAfter(stop);
      try {
        open();
        opened = !environment.disk().powerOff();
      } catch (StoreException e) {
        assertThat(environment.disk().powerOff()).isTrue();
      }
      environment.cutPower();
      expectNothingUsedAgain();
      try (Folder folder = environment.disk().open(FOLDER)) {
        for (String name : folder.list()) {
          folder.delete(name);
        }
        folder.sync();
      }
    }
  }

  @Test
  void no_id_of_a_new_history_is_given_again_if_its_beginning_is_lost_too() throws IOException {
    fill(COMMITS);
    flip(end() - 8);
    for (int loss = 0; loss < 3; loss++) {
      try (EmbeddedTaskStore store = open()) {
        long next = add(store);
        assertThat(next).isGreaterThan(ids.getLast());
        ids.add(next);
      }
      String last;
      try (Folder folder = environment.disk().open(FOLDER)) {
        last = folder.list().getLast();
      }
      assertThat(last).isNotEqualTo(SEGMENT);
      truncate(last, 4096);
    }
    String digest;
    try (EmbeddedTaskStore store = open()) {
      assertThat(add(store)).isGreaterThan(ids.getLast());
      digest = store.digest().value();
    }
    try (EmbeddedTaskStore store = open()) {
      assertThat(store.digest().value()).isEqualTo(digest);
    }
  }

  @Test
  void no_id_is_given_again_if_the_beginnings_of_several_new_histories_are_lost_at_once()
      throws IOException {
    fill(COMMITS);
    int end = end();
    for (int crash = 0; crash < 5; crash++) {
      EmbeddedTaskStore store = open(Journaling.OPPORTUNISTIC);
      ids.add(add(store));
      environment.runUntilIdle();
      environment.disk().crash();
      environment.scheduler().abandon();
    }
    assertThat(ids.getLast()).as("four new histories").isGreaterThan(4L << 32);
    spoil(end, end());
    for (int start = 0; start < 3; start++) {
      try (EmbeddedTaskStore store = open()) {
        assertThat(store.groups().position().number()).isEqualTo(COMMITS + start);
        long next = add(store);
        assertThat(next).isGreaterThan(ids.getLast());
        ids.add(next);
      }
    }
  }

  @Test
  void a_check_changes_nothing_creates_nothing_and_takes_no_lock() throws IOException {
    fill(COMMITS);
    flip(end() - 8);
    try (EmbeddedTaskStore store = open()) {
      store.requestSnapshot();
      add(store);
      long operations = environment.disk().operations();
      assertThat(StoreCheck.verify(environment, FOLDER).isSound()).isTrue();
      assertThat(environment.disk().operations()).isEqualTo(operations);
    }
    Path absent = Path.of("absent");
    assertThatThrownBy(() -> StoreCheck.verify(environment, absent))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("absent");
    assertThatThrownBy(() -> environment.disk().open(absent))
        .isInstanceOf(NoSuchFileException.class);
  }

  @Test
  void a_plain_crash_stays_in_its_history() {
    fill(COMMITS);
    try (EmbeddedTaskStore store = open()) {
      assertThat(store.groups().position()).isEqualTo(positions.getLast());
      assertThat(add(store)).isEqualTo(ids.getLast() + 1);
    }
  }
}
