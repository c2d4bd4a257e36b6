package io.millrace.store.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.When;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Leases: failures of owners, renewals, releases, and the three states of a task. */
abstract class LeaseContract extends StoreTopic {
  @Test
  void a_task_abandoned_by_its_owner_can_be_taken_when_the_lease_ends() {
    add("map", "work");
    Task first = claim(ALICE, "map", LEASE);
    advance(LEASE.minusMillis(1));
    assertThat(claimed(Claim.of(BOB, "map", LEASE))).isEmpty();
    advance(Duration.ofMillis(1));
    Task second = claim(BOB, "map");
    assertThat(second.origin()).isEqualTo(first.origin());
    assertThat(second.token()).isGreaterThan(first.token());
    assertThat(second.claims()).isEqualTo(2);
    assertThat(claimed(Claim.of(ALICE, "map", LEASE))).isEmpty();
  }

  @Test
  void of_two_that_work_on_a_delayed_task_only_the_second_can_commit() {
    add("map", "work");
    Task slow = claim(ALICE, "map", LEASE);
    advance(LEASE);
    Task fast = claim(BOB, "map");
    Outcome.Refused refused =
        refused(Transaction.by(ALICE).delete(slow.ref()).add("reduce", "from the first"));
    assertThat(kinds(refused)).containsExactly(Kind.MISSING_DELETE);
    commit(Transaction.by(BOB).delete(fast.ref()).add("reduce", "from the second"));
    assertThat(texts(tasksOf("reduce"))).containsExactly("from the second");
    assertThat(tasksOf("map")).isEmpty();
  }

  @Test
  void an_ended_claim_comes_alive_again_where_its_client_revives_it_first() {
    add("map", "work");
    Task held = claim(ALICE, "map", LEASE);
    advance(LEASE);
    Outcome.Refused plain = refused(Transaction.by(ALICE).renew(held.ref(), LEASE));
    assertThat(kinds(plain)).containsExactly(Kind.LEASE_ENDED);
    Outcome.Refused foreign = refused(Transaction.by(BOB).revive(held.ref(), LEASE));
    assertThat(kinds(foreign)).containsExactly(Kind.LEASE_ENDED);
    Task revived = commit(Transaction.by(ALICE).revive(held.ref(), LEASE)).tasks().getFirst();
    assertThat(revived.token()).isEqualTo(held.token());
    assertThat(claimed(Claim.of(BOB, "map", LEASE).withLimit(1))).isEmpty();
    advance(LEASE);
    Task second = claim(BOB, "map");
    Outcome.Refused late =
        refused(Transaction.by(ALICE).revive(TaskRef.origin(held.origin()), LEASE));
    assertThat(kinds(late)).containsExactly(Kind.OWNED_BY_ANOTHER);
    assertThat(second.token()).isGreaterThan(revived.token());
  }

  @Test
  void a_restarted_store_remembers_what_it_handed_out() {
    add("map", "work");
    Task held = claim(ALICE, "map");
    restart();
    assertThat(store().task(held.ref()).value()).contains(held);
    assertThat(claimed(Claim.of(BOB, "map", LEASE))).isEmpty();
    commit(Transaction.by(ALICE).delete(held.ref()).add("reduce", "done"));
    assertThat(texts(tasksOf("reduce"))).containsExactly("done");
  }

  @Test
  void an_owner_past_its_lease_can_still_finish_while_nobody_else_came() {
    add("map", "work");
    Task held = claim(ALICE, "map");
    advance(LEASE);
    commit(Transaction.by(ALICE).delete(held.ref()));
    assertThat(tasksOf("map")).isEmpty();
  }

  @Test
  void a_renewal_prolongs_the_lease_and_keeps_the_token() {
    add("map", "work");
    Task held = claim(ALICE, "map");
    advance(LEASE.dividedBy(2));
    Outcome.Done done = commit(Transaction.by(ALICE).renew(held.ref(), LEASE));
    Task renewed = done.tasks().getFirst();
    assertThat(renewed.id()).isGreaterThan(held.id());
    assertThat(renewed.token()).isEqualTo(held.token());
    assertThat(renewed.claims()).isEqualTo(1);
    assertThat(renewed.data()).isEqualTo(held.data());
    assertThat(renewed.availableAtMillis()).isEqualTo(done.timeMillis() + LEASE.toMillis());
    advance(LEASE.minusMillis(1));
    assertThat(claimed(Claim.of(BOB, "map", LEASE))).isEmpty();
    advance(Duration.ofMillis(1));
    assertThat(claim(BOB, "map").token()).isGreaterThan(held.token());
  }

  @Test
  void a_renewal_may_shorten_the_lease() {
    add("map", "work");
    Task held = claim(ALICE, "map", Duration.ofHours(1));
    commit(Transaction.by(ALICE).renew(held.ref(), Duration.ofMillis(5)));
    advance(Duration.ofMillis(5));
    assertThat(claim(BOB, "map").owner()).isEqualTo(BOB);
  }

  @Test
  void a_renewal_after_the_lease_is_refused() {
    add("map", "work");
    Task held = claim(ALICE, "map");
    advance(LEASE);
    Outcome.Refused refused = refused(Transaction.by(ALICE).renew(held.ref(), LEASE));
    assertThat(kinds(refused)).containsExactly(Kind.LEASE_ENDED);
    assertThat(isThere(held.ref())).isTrue();
  }

  @Test
  void a_renewal_of_a_claim_that_another_took_over_is_refused() {
    Task task = add("map", "work");
    Task held = claim(ALICE, "map");
    advance(LEASE);
    claim(BOB, "map");
    assertThat(kinds(refused(Transaction.by(ALICE).renew(held.ref(), LEASE))))
        .containsExactly(Kind.MISSING_UPDATE);
    assertThat(kinds(refused(Transaction.by(ALICE).renew(TaskRef.origin(task.origin()), LEASE))))
        .containsExactly(Kind.OWNED_BY_ANOTHER);
  }

  @Test
  void a_task_that_was_never_claimed_cannot_be_renewed() {
    Task waiting = add("map", "work");
    assertThat(kinds(refused(Transaction.by(ALICE).renew(waiting.ref(), LEASE))))
        .containsExactly(Kind.LEASE_ENDED);
  }

  @Test
  void an_update_into_the_future_goes_on_with_the_claim() {
    add("map", "work");
    Task held = claim(ALICE, "map");
    Task progress =
        commit(Transaction.by(ALICE).update(held.ref(), Bytes.of("half"), When.after(LEASE)))
            .tasks()
            .getFirst();
    assertThat(progress.token()).isEqualTo(held.token());
    assertThat(progress.claims()).isEqualTo(1);
    assertThat(progress.owner()).isEqualTo(ALICE);
    assertThat(progress.data().utf8()).isEqualTo("half");
  }

  @Test
  void an_update_into_the_future_after_the_lease_is_no_claim() {
    add("map", "work");
    Task held = claim(ALICE, "map");
    advance(LEASE);
    Task owned =
        commit(Transaction.by(ALICE).update(held.ref(), null, When.after(LEASE)))
            .tasks()
            .getFirst();
    assertThat(owned.token()).isZero();
    assertThat(owned.owner()).isEqualTo(ALICE);
  }

  @Test
  void a_released_task_is_waiting_at_once_with_its_data() {
    add("map", "work");
    Task held = claim(ALICE, "map");
    Task released = commit(Transaction.by(ALICE).release(held.ref())).tasks().getFirst();
    assertThat(released.stateAt(now())).isEqualTo(Task.State.WAITING);
    assertThat(released.token()).isZero();
    assertThat(released.data()).isEqualTo(held.data());
    assertThat(claim(BOB, "map").origin()).isEqualTo(held.origin());
  }

  @Test
  void a_delayed_task_is_owned_by_nobody_and_anybody_may_change_it() {
    Task delayed = add("a", "later", When.after(LEASE), false);
    assertThat(delayed.owner()).isNull();
    assertThat(delayed.stateAt(now())).isEqualTo(Task.State.DELAYED);
    assertThat(claimed(Claim.of(ALICE, "a", LEASE))).isEmpty();
    commit(Transaction.by(BOB).delete(delayed.ref()));
    assertThat(tasksOf("a")).isEmpty();
  }

  @Test
  void a_delayed_task_is_waiting_when_its_time_comes_with_the_same_id() {
    Task delayed = add("a", "later", When.after(LEASE), false);
    advance(LEASE);
    assertThat(store().task(delayed.ref()).value()).contains(delayed);
    assertThat(claim(BOB, "a").claims()).isEqualTo(1);
  }

  @Test
  void an_add_may_own_its_task_until_its_time_comes() {
    Task owned = add("a", "mine", When.after(LEASE), true);
    assertThat(owned.owner()).isEqualTo(ALICE);
    assertThat(owned.heldByClaim()).isFalse();
    assertThat(kinds(refused(Transaction.by(BOB).delete(owned.ref()))))
        .containsExactly(Kind.OWNED_BY_ANOTHER);
    assertThat(kinds(refused(Transaction.by(ALICE).renew(owned.ref(), LEASE))))
        .containsExactly(Kind.LEASE_ENDED);
    advance(LEASE);
    assertThat(claim(BOB, "a").owner()).isEqualTo(BOB);
  }

  @Test
  void a_past_time_means_at_once() {
    Task task = add("a", "", When.at(Instant.ofEpochMilli(60_000)), false);
    assertThat(task.stateAt(now())).isEqualTo(Task.State.WAITING);
    assertThat(claimed(Claim.of(ALICE, "a", LEASE))).hasSize(1);
  }

  @Test
  void an_absolute_time_is_store_time() {
    long due = now() + 5000;
    add("a", "", When.at(Instant.ofEpochMilli(due)), false);
    advance(Duration.ofMillis(4999));
    assertThat(claimed(Claim.of(ALICE, "a", LEASE))).isEmpty();
    advance(Duration.ofMillis(1));
    assertThat(claimed(Claim.of(ALICE, "a", LEASE))).hasSize(1);
  }

  @Test
  void a_lease_of_years_is_kept() {
    add("a", "");
    Duration years = Duration.ofDays(100_000);
    Task held = claim(ALICE, "a", years);
    assertThat(held.availableAtMillis()).isGreaterThanOrEqualTo(years.toMillis());
    assertThat(held.stateAt(now())).isEqualTo(Task.State.CLAIMED);
  }
}
