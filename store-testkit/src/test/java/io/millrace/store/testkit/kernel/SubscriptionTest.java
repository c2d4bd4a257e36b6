package io.millrace.store.testkit.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Bytes;
import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.PositionLostException.Why;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.Task;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.files.FileJournal;
import io.millrace.store.journal.files.FileJournalOptions;
import io.millrace.store.kernel.subscriptions.LiveSubscription;
import io.millrace.store.testkit.environment.SettableTimeEnvironment;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Subscriptions among real threads. */
@Timeout(60)
final class SubscriptionTest {
  private static final int WRITERS = 3;
  private static final int COMMITS = 1_500;
  private static final Duration LONG = Duration.ofSeconds(50);

  @TempDir private Path folder;

  private static Transaction add(int client) {
    return Transaction.by(Owner.client(client)).add("group", "task").build();
  }

  private static List<Long> read(TaskStore store, Position from, int count)
      throws InterruptedException {
    List<Long> numbers = new ArrayList<>();
    try (Subscription subscription = store.subscribe(Interest.everything().after(from))) {
      while (numbers.size() < count) {
        Commit commit = Objects.requireNonNull(subscription.next(LONG));
        numbers.add(commit.position().number() - from.number());
      }
    }
    return numbers;
  }

  @Test
  void who_begins_in_the_past_gets_each_commit_once_while_others_commit() throws Exception {
    StoreOptions options = StoreOptions.in(folder).withJournaling(Journaling.OPPORTUNISTIC);
    List<Long> expected = new ArrayList<>();
    for (long i = 1; i <= WRITERS * COMMITS; i++) {
      expected.add(i);
    }
    try (TaskStore store = TaskStore.open(options);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Position start = store.groups().position();
      List<Future<List<Long>>> readers = new ArrayList<>();
      List<CountDownLatch> milestones = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        CountDownLatch milestone = new CountDownLatch(1 + i * WRITERS * COMMITS / 5);
        milestones.add(milestone);
        readers.add(
            threads.submit(() -> {
              milestone.await();
              return read(store, start, WRITERS * COMMITS);
            }));
      }
      for (int i = 1; i <= WRITERS; i++) {
        int client = i;
        var _ =
            threads.submit(() -> {
              for (int n = 0; n < COMMITS; n++) {
                store.commit(add(client)).done();
                milestones.forEach(CountDownLatch::countDown);
              }
            });
      }
      for (Future<List<Long>> reader : readers) {
        assertThat(reader.get()).isEqualTo(expected);
      }
    }
  }

  private static GatedJournal journalIn(Path folder) {
    return new GatedJournal(
        FileJournal.open(Environment.system(), folder, FileJournalOptions.DEFAULTS));
  }

  private static Commit next(Subscription subscription) throws InterruptedException {
    return Objects.requireNonNull(subscription.next(LONG));
  }

  @Test
  void who_stalls_goes_on_from_the_journal_where_it_was() throws InterruptedException {
    StoreOptions options =
        StoreOptions.in(folder).withLimits(Limits.defaults().withSubscriberLag(20, 64L << 20));
    GatedJournal journal = journalIn(folder);
    try (TaskStore store = TaskStore.open(options, journal);
        Subscription subscription = store.subscribe(Interest.everything())) {
      long first = store.commit(add(1)).done().position().number();
      assertThat(next(subscription).position().number()).isEqualTo(first);
      for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 50; i++) {
          store.commit(add(1)).done();
        }
        assertThat(journal.openReaders()).isZero();
        for (int i = 1; i <= 50; i++) {
          assertThat(next(subscription).position().number()).isEqualTo(first + 50L * round + i);
        }
        assertThat(subscription.next(Duration.ZERO)).isNull();
        assertThat(journal.openReaders()).isZero();
      }
    }
  }

  @Test
  void who_waits_for_a_rare_commit_is_not_behind_although_many_others_come() throws Exception {
    StoreOptions options =
        StoreOptions.in(folder).withLimits(Limits.defaults().withSubscriberLag(20, 64L << 20));
    GatedJournal journal = journalIn(folder);
    try (TaskStore store = TaskStore.open(options, journal);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        Subscription subscription = store.subscribe(new Interest(null, Set.of("rare"), Set.of()))) {
      for (int round = 0; round < 3; round++) {
        Future<Commit> rare = threads.submit(() -> next(subscription));
        for (int i = 0; i < 50; i++) {
          store.commit(add(1)).done();
        }
        Position position =
            store
                .commit(Transaction.by(Owner.client(1)).add("rare", "task").build())
                .done()
                .position();
        assertThat(rare.get().position()).isEqualTo(position);
      }
      assertThat(subscription.next(Duration.ZERO)).isNull();
      assertThat(journal.openReaders()).isZero();
    }
  }

  @Test
  void who_stalls_keeps_no_more_bytes_than_its_limit() throws InterruptedException {
    long most = 3 << 20;
    StoreOptions options =
        StoreOptions.in(folder)
            .withJournaling(Journaling.OPPORTUNISTIC)
            .withLimits(Limits.defaults().withSubscriberLag(100_000, most));
    Bytes large = Bytes.copyOf(new byte[1 << 20]);
    try (TaskStore store = TaskStore.open(options);
        Subscription subscription = store.subscribe(Interest.everything());
        Subscription quick = store.subscribe(Interest.everything())) {
      long largest = 0;
      for (int i = 0; i < 97; i++) {
        Task task =
            store
                .commit(Transaction.by(Owner.client(1)).add("large", large).build())
                .done()
                .tasks()
                .getFirst();
        store.commit(Transaction.by(Owner.client(1)).delete(task.ref()).build()).done();
        next(quick);
        next(quick);
        largest = Math.max(largest, ((LiveSubscription) subscription).keptBytes());
      }
      assertThat(largest).isBetween(1L << 20, most);
      for (int i = 0; i < 97; i++) {
        assertThat(next(subscription).changes().getFirst())
            .isInstanceOfSatisfying(
                Change.Added.class, it -> assertThat(it.task().data()).isEqualTo(large));
        assertThat(next(subscription).changes().getFirst()).isInstanceOf(Change.Deleted.class);
      }
    }
  }

  @Test
  void who_stalls_while_it_reads_the_past_keeps_no_reader_open() throws InterruptedException {
    StoreOptions options =
        StoreOptions.in(folder).withLimits(Limits.defaults().withSubscriberLag(20, 64L << 20));
    GatedJournal journal = journalIn(folder);
    try (EmbeddedTaskStore store = TaskStore.open(options, journal)) {
      Position start = store.groups().position();
      for (int i = 0; i < 10; i++) {
        store.commit(add(1)).done();
      }
      try (Subscription subscription = store.subscribe(Interest.everything().after(start))) {
        assertThat(store.status().subscribers()).isEqualTo(1);
        assertThat(next(subscription).position().number()).isEqualTo(start.number() + 1);
        assertThat(journal.openReaders()).isEqualTo(1);
        for (int i = 0; i < 30; i++) {
          store.commit(add(1)).done();
        }
        assertThat(journal.openReaders()).isZero();
        for (int i = 2; i <= 40; i++) {
          assertThat(next(subscription).position().number()).isEqualTo(start.number() + i);
        }
      }
      assertThat(store.status().subscribers()).isZero();
    }
  }

  @Test
  void who_is_too_slow_for_the_journal_is_cut_off_with_its_position() throws InterruptedException {
    StoreOptions options =
        StoreOptions.in(folder).withLimits(Limits.defaults().withSubscriberLag(20, 64L << 20));
    GatedJournal journal = journalIn(folder);
    try (TaskStore store = TaskStore.open(options, journal);
        Subscription subscription = store.subscribe(Interest.everything())) {
      store.commit(add(1)).done();
      Commit first = next(subscription);
      for (int i = 0; i < 30; i++) {
        store.commit(add(1)).done();
      }
      journal.forget();
      assertThatThrownBy(() -> subscription.next(LONG))
          .isInstanceOfSatisfying(
              PositionLostException.class,
              e -> {
                assertThat(e.why()).isEqualTo(Why.TOO_SLOW);
                assertThat(e.position()).isEqualTo(first.position());
              });
    }
  }

  @Test
  void who_meets_damage_in_the_journal_is_told_alone_and_goes_on_once_it_is_mended()
      throws InterruptedException, IOException {
    StoreOptions options =
        StoreOptions.in(folder).withLimits(Limits.defaults().withSubscriberLag(20, 64L << 20));
    try (TaskStore store = TaskStore.open(options);
        Subscription stalled = store.subscribe(Interest.everything());
        Subscription other = store.subscribe(Interest.everything())) {
      long first = store.commit(add(1)).done().position().number();
      assertThat(next(stalled).position().number()).isEqualTo(first);
      next(other);
      for (int i = 0; i < 30; i++) {
        store.commit(add(1)).done();
        next(other);
      }
      turnBitOfFirstFrame();
      for (int i = 0; i < 2; i++) {
        assertThatThrownBy(() -> stalled.next(LONG)).isInstanceOf(DamagedJournalException.class);
        long after = store.commit(add(1)).done().position().number();
        assertThat(next(other).position().number()).isEqualTo(after);
      }
      turnBitOfFirstFrame();
      for (int i = 1; i <= 32; i++) {
        assertThat(next(stalled).position().number()).isEqualTo(first + i);
      }
      assertThat(stalled.next(Duration.ZERO)).isNull();
    }
  }

  /** Turns a bit in the journal's first frame, or turns it back. */
  private void turnBitOfFirstFrame() throws IOException {
    int firstFrame = 4096;
    Path segment = folder.resolve("0000000000000001.segment");
    try (FileChannel file =
        FileChannel.open(segment, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      file.read(one, firstFrame + 70);
      one.put(0, (byte) (one.get(0) ^ 1)).flip();
      file.write(one, firstFrame + 70);
    }
  }

  @Test
  void a_wait_is_counted_by_the_clock_of_the_environment() throws Exception {
    SettableTimeEnvironment environment =
        new SettableTimeEnvironment(1, Environment.system().disk());
    StoreOptions options = StoreOptions.in(folder).withEnvironment(environment);
    Interest nothing = new Interest(null, Set.of("another group"), Set.of());
    try (TaskStore store = TaskStore.open(options);
        Subscription subscription = store.subscribe(nothing);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      CountDownLatch begun = new CountDownLatch(1);
      Future<Commit> waiting =
          threads.submit(() -> {
            begun.countDown();
            return subscription.next(Duration.ofHours(1));
          });
      begun.await();
      while (!waiting.isDone()) {
        environment.advance(Duration.ofHours(2));
        store.commit(add(1)).done();
      }
      assertThat(waiting.get()).isNull();
    }
  }

  @Test
  void who_reads_a_long_past_is_not_too_slow() throws InterruptedException {
    StoreOptions options =
        StoreOptions.in(folder).withLimits(Limits.defaults().withSubscriberLag(20, 64L << 20));
    try (TaskStore store = TaskStore.open(options)) {
      Position start = store.groups().position();
      for (int i = 0; i < 100; i++) {
        store.commit(add(1)).done();
      }
      assertThat(read(store, start, 100)).hasSize(100);
    }
  }

  @Test
  void closing_ends_the_wait_for_a_commit_even_beside_other_subscribers() throws Exception {
    try (EmbeddedTaskStore store = TaskStore.open(StoreOptions.in(folder));
        Subscription other = store.subscribe(Interest.everything());
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Subscription subscription = store.subscribe(Interest.everything());
      Future<?> waiting =
          threads.submit(() ->
              assertThatThrownBy(() -> subscription.next(Duration.ofHours(1)))
                  .isInstanceOf(StoreClosedException.class));
      subscription.close();
      waiting.get();
      assertThat(other.next(Duration.ZERO)).isNull();
      assertThat(store.status().subscribers()).isEqualTo(1);
    }
  }

  @Test
  void everything_answered_before_a_close_under_load_is_there_afterwards() throws Exception {
    List<Future<Integer>> answered = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      TaskStore store = TaskStore.open(StoreOptions.in(folder));
      CountDownLatch busy = new CountDownLatch(200);
      for (int i = 1; i <= 8; i++) {
        int client = i;
        answered.add(
            threads.submit(() -> {
              int count = 0;
              try {
                while (true) {
                  store.commit(add(client)).done();
                  count++;
                  busy.countDown();
                }
              } catch (StoreClosedException _) {
                return count;
              }
            }));
      }
      busy.await();
      store.close();
    }
    long total = 0;
    for (Future<Integer> each : answered) {
      total += each.get();
    }
    try (EmbeddedTaskStore store = TaskStore.open(StoreOptions.in(folder))) {
      assertThat(store.status().tasks()).isEqualTo(total);
    }
  }
}
