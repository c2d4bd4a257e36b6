package io.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Claim;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(20)
final class LeasesTest {
  private static final Owner ME = Owner.client(7);
  private static final Owner OPERATOR = Owner.client(8);
  private static final Duration LEASE = Duration.ofMinutes(3);
  private static final long MINUTE = Duration.ofMinutes(1).toNanos();

  private final AtomicLong now = new AtomicLong(-MINUTE);
  private TaskStore store;
  private Leases leases;

  @BeforeEach
  void open(@TempDir Path folder) {
    store = TaskStore.open(StoreOptions.in(folder));
    leases = new Leases(store, ME, LEASE, now::get);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private Held held() {
    store.commit(Transaction.by(ME).add("g", "d").build()).done();
    return leases.hold(store.claim(Claim.of(ME, "g", LEASE)).done().tasks().getFirst());
  }

  private Task stored(Held held) {
    return store.task(TaskRef.origin(held.ref.origin())).value().orElseThrow();
  }

  private void takeAway(Held held) {
    store
        .commit(
            Transaction.by(OPERATOR)
                .override(true)
                .delete(TaskRef.origin(held.ref.origin()))
                .build())
        .done();
  }

  @Test
  void a_claim_is_renewed_at_a_third_of_its_lease_and_keeps_its_token() {
    Held held = held();
    long id = held.ref.id();
    assertThat(leases.step(now.get())).isEqualTo(now.get() + MINUTE);
    assertThat(stored(held).id()).isEqualTo(id);
    now.addAndGet(MINUTE);
    assertThat(leases.step(now.get())).isEqualTo(now.get() + MINUTE);
    assertThat(held.ref.id()).isGreaterThan(id).isEqualTo(stored(held).id());
    assertThat(stored(held).token()).isEqualTo(id).isEqualTo(held.work.fencingToken());
    assertThat(held.work.isCancelled()).isFalse();
  }

  @Test
  void a_lost_claim_cancels_its_work_and_the_others_are_renewed() {
    Held lost = held();
    Held kept = held();
    long id = kept.ref.id();
    takeAway(lost);
    now.addAndGet(MINUTE);
    leases.step(now.get());
    assertThat(lost.work.isCancelled()).isTrue();
    assertThat(kept.work.isCancelled()).isFalse();
    assertThat(stored(kept).id()).isGreaterThan(id).isEqualTo(kept.ref.id());
  }

  @Test
  void a_lease_that_ended_by_the_local_clock_is_lost_without_asking() {
    Held held = held();
    now.addAndGet(3 * MINUTE);
    leases.step(now.get());
    assertThat(held.work.isCancelled()).isTrue();
    assertThat(stored(held).id()).isEqualTo(held.ref.id());
  }

  @Test
  void a_store_that_cannot_be_asked_is_asked_again_soon_and_nothing_is_lost() {
    Held held = held();
    store.close();
    now.addAndGet(MINUTE);
    assertThat(leases.step(now.get())).isEqualTo(now.get() + MINUTE / 4);
    assertThat(held.work.isCancelled()).isFalse();
  }

  @Test
  void a_task_that_is_ending_is_not_renewed() throws InterruptedException {
    Held held = held();
    long id = held.ref.id();
    now.addAndGet(MINUTE);
    held.lock.lock();
    try {
      Thread stepping = Thread.ofVirtual().start(() -> leases.step(now.get()));
      stepping.join();
    } finally {
      held.lock.unlock();
    }
    assertThat(stored(held).id()).isEqualTo(id);
  }
}
