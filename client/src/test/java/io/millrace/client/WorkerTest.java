package io.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.wire.QuarantinedTask;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
final class WorkerTest {
  private static final Owner ME = Owner.client(7);
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final WorkerOptions OPTIONS =
      WorkerOptions.of("in")
          .withClient(ME)
          .withPoison(new WorkerOptions.Poison(3, ".bad", Duration.ZERO));

  private TaskStore store;

  @BeforeEach
  void open(@TempDir Path folder) {
    store = TaskStore.open(StoreOptions.in(folder));
  }

  @AfterEach
  void close() {
    store.close();
  }

  private long add(String data) {
    return store.commit(Transaction.by(ME).add("in", data).build()).done().tasks().getFirst().id();
  }

  private Subscription watch(String group) {
    return store.subscribe(new Interest(null, Set.of(group), Set.of()));
  }

  private static Task nextAdded(Subscription subscription) throws InterruptedException {
    while (true) {
      Commit commit = Objects.requireNonNull(subscription.next(LONG), "nothing came");
      for (Change change : commit.changes()) {
        if (change instanceof Change.Added(Task task)) {
          return task;
        }
      }
    }
  }

  private boolean isThere(long origin) {
    return store.task(TaskRef.origin(origin)).value().isPresent();
  }

  @Test
  void finishing_a_task_and_adding_the_next_is_one_commit() throws Exception {
    try (Subscription out = watch("out");
        Worker worker =
            Worker.start(
                store,
                OPTIONS.withConcurrency(3),
                work -> TaskResult.with(more -> more.add("out", work.task().data())))) {
      for (int i = 0; i < 10; i++) {
        add("task " + i);
      }
      for (int i = 0; i < 10; i++) {
        nextAdded(out);
      }
      assertThat(worker.stop(LONG)).isTrue();
      assertThat(worker.busy()).isZero();
      assertThat(store.groups().value()).extracting(group -> group.name()).containsExactly("out");
    }
  }

  @Test
  void a_task_that_fails_too_often_goes_into_quarantine_with_data_and_reason() throws Exception {
    AtomicInteger tries = new AtomicInteger();
    try (Subscription bad = watch("in.bad");
        Worker _ =
            Worker.start(
                store,
                OPTIONS,
                _ -> {
                  throw new IllegalStateException("try " + tries.incrementAndGet());
                })) {
      long origin = add("poison");
      Task quarantined = nextAdded(bad);
      assertThat(QuarantinedTask.read(quarantined.data()))
          .isEqualTo(
              new QuarantinedTask(
                  "in", origin, 3, "java.lang.IllegalStateException: try 3", Bytes.of("poison")));
      assertThat(isThere(origin)).isFalse();
    }
  }

  @Test
  void a_task_that_was_claimed_too_often_is_quarantined_without_another_attempt() throws Exception {
    long origin = add("killer");
    for (int i = 0; i < 3; i++) {
      Task task = store.claim(Claim.of(ME, "in", LONG)).done().tasks().getFirst();
      store.commit(Transaction.by(ME).release(task.ref()).build()).done();
    }
    try (Subscription bad = watch("in.bad");
        Worker _ =
            Worker.start(
                store,
                OPTIONS,
                _ -> {
                  throw new AssertionError("tried once more");
                })) {
      QuarantinedTask quarantined = QuarantinedTask.read(nextAdded(bad).data());
      assertThat(quarantined.origin()).isEqualTo(origin);
      assertThat(quarantined.claims()).isEqualTo(4);
      assertThat(quarantined.reason()).isEqualTo("claimed too often without being completed");
    }
  }

  @Test
  void a_refusal_of_what_a_handler_wants_counts_as_a_failure() throws Exception {
    DocumentKey key = new DocumentKey("c", "k");
    try (Subscription bad = watch("in.bad");
        Worker _ =
            Worker.start(
                store, OPTIONS, _ -> TaskResult.with(more -> more.put(key, 99, Bytes.EMPTY)))) {
      add("conflict");
      assertThat(QuarantinedTask.read(nextAdded(bad).data()).reason()).contains("c/k");
      assertThat(store.document(key).value()).isEmpty();
    }
  }

  @Test
  void a_task_can_come_again_with_other_data() throws Exception {
    BlockingQueue<String> seen = new ArrayBlockingQueue<>(10);
    try (Worker _ =
        Worker.start(
            store,
            OPTIONS,
            work -> {
              seen.add(work.task().data().utf8());
              return work.task().claims() == 1
                  ? TaskResult.again(Duration.ZERO, Bytes.of("second"))
                  : TaskResult.done();
            })) {
      add("first");
      assertThat(seen.poll(20, TimeUnit.SECONDS)).isEqualTo("first");
      assertThat(seen.poll(20, TimeUnit.SECONDS)).isEqualTo("second");
    }
  }

  @Test
  void work_whose_claim_is_lost_is_cancelled_and_interrupted() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch cancelled = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    long origin = add("long");
    try (Worker _ =
        Worker.start(
            store,
            OPTIONS.withLease(Duration.ofMillis(300)),
            work -> {
              work.onCancel(cancelled::countDown);
              begun.countDown();
              try {
                new CountDownLatch(1).await();
              } catch (InterruptedException e) {
                interrupted.countDown();
                throw e;
              }
              return TaskResult.done();
            })) {
      assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
      store
          .commit(
              Transaction.by(Owner.client(8)).override(true).delete(TaskRef.origin(origin)).build())
          .done();
      assertThat(cancelled.await(20, TimeUnit.SECONDS)).isTrue();
      assertThat(interrupted.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void stopping_gives_back_what_does_not_end_in_time() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    long origin = add("endless");
    try (Worker worker =
        Worker.start(
            store,
            OPTIONS,
            _ -> {
              begun.countDown();
              new CountDownLatch(1).await();
              return TaskResult.done();
            })) {
      assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
      assertThat(worker.stop(Duration.ZERO)).isFalse();
      Task task = store.task(TaskRef.origin(origin)).value().orElseThrow();
      assertThat(task.stateAt(store.groups().timeMillis())).isEqualTo(Task.State.WAITING);
    }
  }

  @Test
  void stopping_lets_work_end() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    long origin = add("slow");
    try (Worker worker =
        Worker.start(
            store,
            OPTIONS,
            _ -> {
              begun.countDown();
              go.await();
              return TaskResult.done();
            })) {
      assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
      Thread opener = Thread.ofVirtual().start(go::countDown);
      assertThat(worker.stop(LONG)).isTrue();
      opener.join();
      assertThat(isThere(origin)).isFalse();
    }
  }
}
