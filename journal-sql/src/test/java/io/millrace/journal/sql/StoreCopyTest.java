package io.millrace.journal.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.database.DatabaseAddress;
import io.millrace.database.DatabaseServer;
import io.millrace.journal.shared.Head;
import io.millrace.journal.shared.SharedJournal;
import io.millrace.store.Bytes;
import io.millrace.store.DocumentKey;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Owner;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreReport;
import io.millrace.store.Task;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Transaction;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Chain;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.FrameCodec;
import io.millrace.store.journal.OccupiedException;
import io.millrace.store.journal.files.JournalCheck;
import io.millrace.store.kernel.Replica;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Stores are backed up, copied, restored and verified between all places where they are kept. */
final class StoreCopyTest {
  private static final Owner ME = Owner.client(1);
  private static final Duration LEASE = Duration.ofMillis(500);

  @TempDir private Path folder;

  /** A kind of place. */
  enum Kind {
    FOLDER,
    SQLITE,
    POSTGRESQL,
    MARIADB
  }

  /** A place, and how a store is opened there; without options, it is a folder. */
  private record Place(Path folder, @Nullable SqlJournalOptions options) {
    JournalCheck.Place place() {
      return options == null
          ? JournalCheck.folder(folder)
          : SharedJournal.place(Environment.system(), options);
    }

    EmbeddedTaskStore open() {
      StoreOptions in = StoreOptions.in(folder);
      SqlJournalOptions at = options;
      return at == null
          ? TaskStore.open(in)
          : TaskStore.open(in, () -> SharedJournal.open(Environment.system(), at));
    }

    /** Executes SQL on the rows of this store. */
    void execute(String sql) {
      SqlJournalOptions at = Objects.requireNonNull(options);
      Properties user = new Properties();
      if (at.database().user() != null) {
        user.put("user", at.database().user());
        user.put("password", "");
      }
      try (Connection connection = DriverManager.getConnection(at.database().url(), user);
          var statement = connection.createStatement()) {
        assertThat(statement.executeUpdate(sql + " WHERE store = '" + at.store() + "'"))
            .isPositive();
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private static SqlJournalOptions inServer(DatabaseAddress.Kind kind) {
    DatabaseAddress server = DatabaseServer.shared(kind).address();
    return SqlJournalOptions.at(server.url()).withUser(server.user(), server.password());
  }

  private Place place(Kind kind, String name) {
    SqlJournalOptions options =
        switch (kind) {
          case FOLDER -> null;
          case SQLITE -> SqlJournalOptions.at("jdbc:sqlite:" + folder.resolve("stores.db"));
          case POSTGRESQL -> inServer(DatabaseAddress.Kind.POSTGRESQL);
          case MARIADB -> inServer(DatabaseAddress.Kind.MARIADB);
        };
    return new Place(
        folder.resolve(name),
        options == null
            ? null
            : options.withStore(name + "-" + UUID.randomUUID()).withLease(LEASE));
  }

  static Stream<List<Kind>> pairs() {
    return Arrays.stream(Kind.values())
        .flatMap(from -> Arrays.stream(Kind.values()).map(to -> List.of(from, to)));
  }

  private static void add(TaskStore store, int number) {
    store
        .commit(
            Transaction.by(ME)
                .add("group", Bytes.of("task " + number))
                .requestId("request " + number)
                .build())
        .done();
  }

  private static List<String> tasks(TaskStore store) {
    return store.group(GroupQuery.all("group")).value().stream()
        .map(task -> task.data().utf8())
        .toList();
  }

  /** A source that works on while it is copied gives a copy of one of its positions. */
  @ParameterizedTest
  @MethodSource("pairs")
  void a_store_at_work_is_copied_as_of_one_position(List<Kind> pair) {
    Place from = place(pair.getFirst(), "from");
    Place to = place(pair.getLast(), "to");
    StoreReport report;
    long largestId;
    try (EmbeddedTaskStore store = from.open()) {
      for (int i = 0; i < 20; i++) {
        add(store, i);
        if (i == 10) {
          store.requestSnapshot();
        }
      }
      AtomicBoolean done = new AtomicBoolean();
      CompletableFuture<Integer> load =
          CompletableFuture.supplyAsync(() -> {
            int i = 20;
            for (; !done.get(); i++) {
              add(store, i);
            }
            return i;
          });
      report = TaskStore.copy(from.place(), to.place(), false);
      done.set(true);
      int added = load.join();
      assertThat(tasks(store)).hasSize(added);
      largestId =
          store.group(GroupQuery.all("group")).value().stream()
              .mapToLong(Task::id)
              .max()
              .orElseThrow();
    }
    assertThat(report.isSound()).isTrue();
    assertThat(report.position()).isGreaterThanOrEqualTo(20);
    assertThat(report.tasks()).isEqualTo((int) report.position());
    assertThat(TaskStore.verify(to.place()).digest()).isEqualTo(report.digest());
    try (EmbeddedTaskStore copy = to.open()) {
      List<String> expected =
          IntStream.range(0, report.tasks()).mapToObj(i -> "task " + i).toList();
      assertThat(tasks(copy)).containsExactlyInAnyOrderElementsOf(expected);
      assertThat(
              copy.commit(
                      Transaction.by(ME)
                          .add("group", Bytes.of("task 0"))
                          .requestId("request 0")
                          .build())
                  .done()
                  .repeated())
          .isTrue();
      add(copy, report.tasks());
      assertThat(copy.group(GroupQuery.all("group")).value())
          .filteredOn(task -> task.data().utf8().equals("task " + report.tasks()))
          .allMatch(task -> task.id() > largestId);
    }
    assertThat(TaskStore.verify(to.place()).isSound()).isTrue();
    try (EmbeddedTaskStore source = from.open()) {
      add(source, 1_000_000);
    }
    assertThat(TaskStore.verify(from.place()).isSound()).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void a_backup_of_each_place_is_restored_and_replaces_only_if_told(Kind kind) throws IOException {
    Place from = place(kind, "from");
    Place to = place(kind, "to");
    Path backup = folder.resolve("backup");
    try (EmbeddedTaskStore store = from.open();
        OutputStream out = Files.newOutputStream(backup)) {
      add(store, 0);
      StoreReport report = TaskStore.backup(from.place(), out);
      assertThat(report.position()).isEqualTo(1);
      assertThat(TaskStore.verify(JournalCheck.backup(backup)).digest())
          .isEqualTo(store.digest().value());
    }
    JournalCheck.Source source = JournalCheck.backup(backup);
    try (EmbeddedTaskStore other = to.open()) {
      add(other, 7);
      // Beside a leader, not even a replacing one.
      assertThatThrownBy(() -> TaskStore.copy(source, to.place(), true))
          .isInstanceOf(StoreException.class)
          .hasMessageMatching(".*(in use by another process|another server leads).*");
      add(other, 8);
    }
    assertThatThrownBy(() -> TaskStore.copy(source, to.place(), false))
        .isInstanceOf(OccupiedException.class)
        .hasMessageMatching(".*(is not empty|already).*");
    TaskStore.copy(source, to.place(), true);
    try (EmbeddedTaskStore restored = to.open()) {
      assertThat(tasks(restored)).containsExactly("task 0");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"SQLITE", "POSTGRESQL", "MARIADB"})
  void a_copy_that_ended_in_the_middle_is_refused_until_another_replaces_it(Kind kind)
      throws Exception {
    Place from = place(kind, "from");
    try (EmbeddedTaskStore store = from.open()) {
      add(store, 0);
    }
    Place to = place(kind, "to");
    SqlJournalOptions options = Objects.requireNonNull(to.options());
    try (JdbcDatabase database = new JdbcDatabase(options)) {
      database.prepare(Environment.system().newRandom());
      assertThat(database.beginRestore(database.head(), 5, 6)).isTrue();
      assertThat(database.beginRestore(database.head(), 7, 8)).isTrue();
      assertThat(database.endRestore(5, Head.Snapshot.NONE, Chain.START))
          .as("a restore that another one has replaced")
          .isFalse();
    }
    try (SharedJournal journal = SharedJournal.open(Environment.system(), options)) {
      assertThatThrownBy(() -> TaskStore.open(StoreOptions.in(folder), journal))
          .hasMessageContaining("is incomplete");
    }
    assertThatThrownBy(() -> TaskStore.verify(to.place())).hasMessageContaining("is incomplete");
    assertThatThrownBy(() -> TaskStore.copy(from.place(), to.place(), false))
        .hasMessageContaining("which is not complete");
    TaskStore.copy(from.place(), to.place(), true);
    try (EmbeddedTaskStore copy = to.open()) {
      assertThat(tasks(copy)).containsExactly("task 0");
    }
  }

  @Test
  void a_standby_of_a_store_that_is_replaced_or_goes_back_does_not_continue_it() {
    Place from = place(Kind.SQLITE, "from");
    try (EmbeddedTaskStore store = from.open()) {
      add(store, 0);
    }
    Place to = place(Kind.SQLITE, "to");
    try (EmbeddedTaskStore store = to.open()) {
      for (int i = 0; i < 20; i++) {
        add(store, 100 + i);
      }
    }
    SqlJournalOptions options = Objects.requireNonNull(to.options());
    try (SharedJournal journal = SharedJournal.open(Environment.system(), options)) {
      Replica standby = new Replica(StoreOptions.in(folder), journal);
      long last = standby.follow();
      TaskStore.copy(from.place(), to.place(), true);
      assertThat(standby.follow()).isPositive().isLessThan(last);
      try (EmbeddedTaskStore store = standby.promote()) {
        assertThat(tasks(store)).containsExactly("task 0");
      }
    }
    try (SharedJournal journal = SharedJournal.open(Environment.system(), options)) {
      Replica standby = new Replica(StoreOptions.in(folder), journal);
      long last = standby.follow();
      to.execute("UPDATE millrace_journal_head SET seq = seq - 1");
      assertThatThrownBy(standby::follow)
          .isInstanceOf(DamagedJournalException.class)
          .hasMessageContaining("frame " + last)
          .hasMessageContaining("went back");
    }
  }

  /** A leader that has read the head of a new store does not begin beside a restore. */
  @Test
  void a_leader_that_was_about_to_begin_is_fenced_by_a_restore() throws Exception {
    Place from = place(Kind.SQLITE, "from");
    try (EmbeddedTaskStore store = from.open()) {
      add(store, 0);
    }
    Place to = place(Kind.SQLITE, "to");
    SqlJournalOptions options = Objects.requireNonNull(to.options());
    try (JdbcDatabase database = new JdbcDatabase(options)) {
      database.prepare(Environment.system().newRandom());
      Head seen = database.head();
      TaskStore.copy(from.place(), to.place(), false);
      Frame frame = new Frame(1, 1, 1, 0, 0, 0, ByteBuffer.allocate(0));
      byte[] bytes = FrameCodec.encode(frame, seen.journalId(), 0).array();
      assertThat(
              database.append(
                  seen.chain(),
                  seen.renewals(),
                  seen.chain().after(frame, 1),
                  1,
                  List.of(new Head.Row(1, 0, 0, bytes.length, bytes))))
          .isFalse();
    }
    assertThat(TaskStore.verify(to.place()).tasks()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource(names = {"SQLITE", "POSTGRESQL", "MARIADB"})
  void damage_is_named_and_is_not_copied(Kind kind) {
    Place from = place(kind, "from");
    try (EmbeddedTaskStore store = from.open()) {
      for (int i = 0; i < 5; i++) {
        add(store, i);
      }
    }
    assertThat(TaskStore.verify(from.place()).isSound()).isTrue();
    from.execute(
        "UPDATE millrace_journal_frames SET frame = (SELECT f.frame FROM (SELECT frame, seq, store"
            + " FROM millrace_journal_frames) f WHERE f.seq = 2 AND f.store = '"
            + Objects.requireNonNull(from.options()).store()
            + "'), position = 99");
    StoreReport damaged = TaskStore.verify(from.place());
    assertThat(damaged.journal().damages().getFirst().file()).isEqualTo("frame 1");
    Place to = place(kind, "to");
    assertThatThrownBy(() -> TaskStore.copy(from.place(), to.place(), false))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("is damaged: frame 1 at byte 0");
  }

  /** A snapshot with right checksums and a wrong content is found by the frames before it. */
  @Test
  void a_snapshot_that_differs_from_its_frames_is_found() throws IOException {
    Path data = folder.resolve("data");
    byte[] good;
    byte[] other;
    try (EmbeddedTaskStore store = TaskStore.open(StoreOptions.in(data))) {
      add(store, 0);
      good = backup(store);
    }
    try (EmbeddedTaskStore store = TaskStore.open(StoreOptions.in(folder.resolve("other")))) {
      store.commit(
          Transaction.by(ME).put(new DocumentKey("other", "document"), 0, Bytes.of("x")).build());
      other = backup(store);
    }
    assertThat(good).isNotEqualTo(other);
    Files.write(data.resolve("%016x.snapshot".formatted(2)), other);
    assertThat(TaskStore.verify(data).journal().damages())
        .anySatisfy(damage -> assertThat(damage.what()).contains("has another content"));
  }

  private static byte[] backup(EmbeddedTaskStore store) {
    var out = new ByteArrayOutputStream();
    store.backup(out);
    return new ByteArrayInputStream(out.toByteArray()).readAllBytes();
  }
}
