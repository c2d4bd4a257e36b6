package io.millrace.cluster.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.files.FileDocuments;
import io.millrace.cluster.documents.store.StoreDocuments;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.LeaseLostException;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.member.ClusterWork;
import io.millrace.cluster.member.Member;
import io.millrace.cluster.status.ClusterStatus;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class NamedLockTest {
  private static final LeaseTerms SHORT = LeaseTerms.of(Duration.ofMillis(600));
  private static final LeaseTerms LONG = LeaseTerms.of(Duration.ofSeconds(3));

  private final Path folder;
  private final VersionedDocuments documents;
  private final List<Member> members = new ArrayList<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  NamedLockTest(@TempDir Path folder) {
    this.folder = folder;
    documents = FileDocuments.open(folder.resolve("documents"));
  }

  @AfterEach
  void close() {
    threads.shutdownNow();
    threads.close();
    members.forEach(Member::close);
    documents.close();
  }

  private Member member(VersionedDocuments shared, LeaseTerms terms) {
    Member member = Member.start(shared, 1, terms, ClusterWork.none());
    members.add(member);
    return member;
  }

  @Test
  void one_thread_of_all_members_holds_the_lock_at_a_time()
      throws InterruptedException, ExecutionException {
    AtomicInteger inside = new AtomicInteger();
    List<Long> fences = Collections.synchronizedList(new ArrayList<>());
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Member member = member(documents, LONG);
      for (int j = 0; j < 4; j++) {
        all.add(
            threads.submit(() -> {
              for (int k = 0; k < 5; k++) {
                NamedLock.of("one", member)
                    .guard(guard -> {
                      assertThat(inside.incrementAndGet()).isEqualTo(1);
                      fences.add(guard.fence());
                      guard.check();
                      return inside.decrementAndGet();
                    });
              }
              return "done";
            }));
      }
    }
    for (Future<?> one : all) {
      assertThat(one.get()).isEqualTo("done");
    }
    assertThat(fences).hasSize(40).isSorted().doesNotHaveDuplicates();
  }

  @Test
  void a_released_lock_goes_to_another_member_before_its_lease_ends() throws Exception {
    passOn(documents);
  }

  @Test
  void a_released_lock_goes_to_another_member_in_a_task_store_too() throws Exception {
    try (TaskStore store = TaskStore.open(StoreOptions.in(folder.resolve("store")))) {
      passOn(StoreDocuments.of(store));
    }
  }

  /** Each member waits until the other one has had the lock before it acquires it again. */
  private void passOn(VersionedDocuments shared) throws Exception {
    LeaseTerms hours = LeaseTerms.of(Duration.ofHours(2));
    List<String> turns = Collections.synchronizedList(new ArrayList<>());
    List<Future<?>> all = new ArrayList<>();
    for (String name : List.of("a", "b", "c")) {
      NamedLock lock = NamedLock.of("passed", member(shared, hours));
      all.add(
          threads.submit(() -> {
            for (int i = 0; i < 5; i++) {
              lock.guard(guard -> turns.add(name));
            }
            return "done";
          }));
    }
    for (Future<?> one : all) {
      assertThat(one.get(1, TimeUnit.MINUTES)).isEqualTo("done");
    }
    assertThat(turns).hasSize(15);
    while (!members.isEmpty()) {
      members.removeLast().close();
    }
  }

  @Test
  void the_result_or_exception_of_the_code_is_passed_on_and_the_lock_is_released()
      throws InterruptedException {
    NamedLock lock = NamedLock.of("a/b", member(documents, LONG));
    long first = lock.<Long, RuntimeException>guard(Guard::fence);
    assertThatThrownBy(() ->
            lock.guard(guard -> {
              throw new IOException("fence " + guard.fence());
            }))
        .isInstanceOf(IOException.class)
        .hasMessage("fence " + (first + 1));
    assertThat(documents.get("lock/a/b").map(VersionedDocument::json))
        .contains("{\"holder\":\"\",\"expire\":0,\"fence\":%d}".formatted(first + 1));
  }

  @Test
  void a_held_lock_is_listed_with_its_holder() throws InterruptedException {
    Member member = member(documents, LONG);
    ClusterStatus.LockView view =
        NamedLock.of("shown", member)
            .guard(guard ->
                ClusterStatus.read(documents, 0).locks().stream()
                    .filter(lock -> lock.key().equals("lock/shown"))
                    .findFirst()
                    .orElseThrow());
    assertThat(view.holder()).isEqualTo(member.token());
  }

  @Test
  void a_wait_with_a_time_limit_times_out() throws Exception {
    NamedLock held = NamedLock.of("busy", member(documents, LONG));
    NamedLock wanted = NamedLock.of("busy", member(documents, LONG));
    String ran =
        held.guard(guard -> {
          for (int millis : new int[] {0, 50}) {
            assertThatThrownBy(() -> wanted.guard(Duration.ofMillis(millis), inside -> "ran"))
                .isInstanceOf(TimeoutException.class)
                .hasMessage("lock 'busy' could not be acquired within " + millis + " ms");
          }
          Future<String> neighbour =
              threads.submit(() -> held.guard(Duration.ofMinutes(1), inside -> "neighbour"));
          assertThat(neighbour.isDone()).isFalse();
          return "ran";
        });
    assertThat(ran).isEqualTo("ran");
    assertThat(wanted.<String, Exception>guard(Duration.ofMinutes(1), inside -> "also"))
        .isEqualTo("also");
  }

  @Test
  void a_thread_that_holds_the_lock_cannot_acquire_it_again() throws Exception {
    NamedLock lock = NamedLock.of("again", member(documents, LONG));
    Throwable thrown =
        lock.guard(guard -> {
          try {
            return lock.guard(inside -> null);
          } catch (IllegalStateException e) {
            return e;
          }
        });
    assertThat(thrown)
        .hasMessage("this thread holds lock 'again' already and cannot acquire it again");
  }

  @Test
  void the_lease_is_renewed_while_the_code_runs() throws Exception {
    FaultyDocuments counted = new FaultyDocuments(documents);
    NamedLock lock = NamedLock.of("long", member(counted, LONG));
    int puts =
        lock.guard(guard -> {
          while (counted.puts("lock/long") < 5) {
            guard.check();
            LockSupport.parkNanos(5_000_000);
          }
          guard.check();
          return counted.puts("lock/long");
        });
    assertThat(puts).isGreaterThanOrEqualTo(5);
  }

  @Test
  void a_holder_whose_lease_ends_is_interrupted_and_the_next_one_has_a_larger_fence()
      throws Exception {
    FaultyDocuments cut = new FaultyDocuments(documents);
    NamedLock lost = NamedLock.of("lost", member(cut, SHORT));
    NamedLock next = NamedLock.of("lost", member(documents, SHORT));
    CompletableFuture<Guard> first = new CompletableFuture<>();
    Future<String> gone =
        threads.submit(() ->
            lost.guard(guard -> {
              first.complete(guard);
              cut.cut(true);
              new CountDownLatch(1).await();
              return "unreachable";
            }));
    Guard old = first.get();
    boolean wasHeld =
        next.guard(guard -> {
          assertThat(guard.fence()).isGreaterThan(old.fence());
          return old.isHeld();
        });
    assertThat(wasHeld).isFalse();
    assertThatThrownBy(gone::get)
        .hasCauseInstanceOf(LeaseLostException.class)
        .rootCause()
        .isInstanceOf(InterruptedException.class);
  }

  @Test
  void the_code_is_interrupted_even_if_a_renewal_gets_no_answer() throws Exception {
    FaultyDocuments slow = new FaultyDocuments(documents);
    NamedLock lock = NamedLock.of("slow", member(slow, SHORT));
    assertThatThrownBy(() ->
            lock.guard(guard -> {
              slow.hang();
              try {
                new CountDownLatch(1).await();
              } finally {
                assertThat(guard.isHeld()).isFalse();
                slow.answer();
              }
              return "unreachable";
            }))
        .isInstanceOf(LeaseLostException.class)
        .hasMessageMatching("the lease on lock 'slow' with fence \\d+ ended before .*");
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void code_that_ignores_the_end_of_the_lease_still_ends_with_LeaseLostException()
      throws Exception {
    FaultyDocuments cut = new FaultyDocuments(documents);
    NamedLock lock = NamedLock.of("deaf", member(cut, SHORT));
    assertThatThrownBy(() ->
            lock.guard(guard -> {
              cut.cut(true);
              while (guard.isHeld()) {
                LockSupport.parkNanos(5_000_000);
              }
              return "done";
            }))
        .isInstanceOf(LeaseLostException.class)
        .hasNoCause();
    cut.cut(false);
    assertThat(Thread.interrupted()).isFalse();
  }

  @Test
  void an_interrupted_thread_stops_waiting() throws Exception {
    NamedLock held = NamedLock.of("held", member(documents, LONG));
    NamedLock wanted = NamedLock.of("held", member(documents, LONG));
    CompletableFuture<Throwable> end = new CompletableFuture<>();
    Throwable thrown =
        held.guard(guard -> {
          Thread waits =
              Thread.ofVirtual()
                  .start(() -> {
                    try {
                      end.complete(wanted.guard(inside -> new AssertionError("inside")));
                    } catch (InterruptedException e) {
                      end.complete(e);
                    }
                  });
          waits.interrupt();
          return end.get(1, TimeUnit.MINUTES);
        });
    assertThat(thrown).isInstanceOf(InterruptedException.class);
  }

  @Test
  void a_deserialized_lock_belongs_to_the_member_whose_work_uses_it() throws Exception {
    NamedLock copy =
        SerializedCopies.copy(NamedLock.class, NamedLock.of("copied", member(documents, LONG)));
    assertThatThrownBy(() -> copy.guard(guard -> null))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("this thread does not run work of a member");
    CompletableFuture<String> holder = new CompletableFuture<>();
    Member worker =
        Member.start(
            documents,
            1,
            LONG,
            ClusterWork.of(guard -> holder.complete(copy.guard(inside -> holder())), documents));
    members.add(worker);
    members.getFirst().close();
    assertThat(holder.get(1, TimeUnit.MINUTES)).contains(worker.token());
  }

  private String holder() {
    return documents.get("lock/copied").map(VersionedDocument::json).orElse("");
  }

  @Test
  void names_that_cannot_be_part_of_a_key_are_refused() {
    assertThatThrownBy(() -> NamedLock.of(""))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("the name of a lock has 1 to 300 bytes, not 0");
    assertThatThrownBy(() -> NamedLock.of("ä".repeat(151)))
        .hasMessage("the name of a lock has 1 to 300 bytes, not 302");
    assertThatThrownBy(() -> NamedLock.of("a\nb"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("cannot be the name of a lock: a document's key has no control");
  }
}
