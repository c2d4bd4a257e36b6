package io.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Claim;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.work.LeaseKeeper;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(20)
final class LeaseRenewalsTest {
  private static final Owner ME = Owner.client(7);
  private static final Owner OPERATOR = Owner.client(8);
  private static final Duration LEASE = Duration.ofMinutes(3);
  private static final long MINUTE = Duration.ofMinutes(1).toNanos();

  private final AtomicLong now = new AtomicLong(-MINUTE);
  private TaskStore store;
  private LeaseRenewals renewals;

  @BeforeEach
  void open(@TempDir Path folder) {
    store = TaskStore.open(StoreOptions.in(folder));
    renewals = new LeaseRenewals(store, ME, LEASE, now::get);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private ClaimedTask held() {
    store.commit(Transaction.by(ME).add("g", "d").build()).done();
    return renewals.hold(store.claim(Claim.of(ME, "g", LEASE)).done().tasks().getFirst());
  }

  private Task stored(ClaimedTask work) {
    return store.task(TaskRef.origin(work.ref.origin())).value().orElseThrow();
  }

  private void takeAway(ClaimedTask work) {
    store
        .commit(
            Transaction.by(OPERATOR)
                .override(true)
                .delete(TaskRef.origin(work.ref.origin()))
                .build())
        .done();
  }

  @Test
  void a_claim_is_renewed_at_a_third_of_its_lease_and_keeps_its_token() {
    ClaimedTask work = held();
    long id = work.ref.id();
    assertThat(renewals.step(now.get())).isEqualTo(now.get() + MINUTE);
    assertThat(stored(work).id()).isEqualTo(id);
    now.addAndGet(MINUTE);
    assertThat(renewals.step(now.get())).isEqualTo(now.get() + MINUTE);
    assertThat(work.ref.id()).isGreaterThan(id).isEqualTo(stored(work).id());
    assertThat(stored(work).token()).isEqualTo(id).isEqualTo(work.fencingToken());
    assertThat(work.isCancelled()).isFalse();
  }

  @Test
  void a_lost_claim_cancels_its_work_and_the_others_are_renewed() {
    ClaimedTask lost = held();
    ClaimedTask kept = held();
    long id = kept.ref.id();
    takeAway(lost);
    now.addAndGet(MINUTE);
    renewals.step(now.get());
    assertThat(lost.isCancelled()).isTrue();
    assertThat(kept.isCancelled()).isFalse();
    assertThat(stored(kept).id()).isGreaterThan(id).isEqualTo(kept.ref.id());
  }

  @Test
  void a_lease_that_ended_by_the_local_clock_is_lost_without_asking() {
    ClaimedTask work = held();
    now.addAndGet(3 * MINUTE);
    renewals.step(now.get());
    assertThat(work.isCancelled()).isTrue();
    assertThat(stored(work).id()).isEqualTo(work.ref.id());
  }

  @Test
  void a_store_that_cannot_be_asked_is_asked_again_soon_and_nothing_is_lost() {
    ClaimedTask work = held();
    store.close();
    now.addAndGet(MINUTE);
    assertThat(renewals.step(now.get()))
        .isEqualTo(now.get() + LeaseKeeper.retryAfter(LEASE).toNanos());
    assertThat(work.isCancelled()).isFalse();
  }

  @Test
  void a_task_that_is_ending_is_not_renewed() throws InterruptedException {
    ClaimedTask work = held();
    long id = work.ref.id();
    now.addAndGet(MINUTE);
    work.lock.lock();
    try {
      Thread stepping = Thread.ofVirtual().start(() -> renewals.step(now.get()));
      stepping.join();
    } finally {
      work.lock.unlock();
    }
    assertThat(stored(work).id()).isEqualTo(id);
  }
}
