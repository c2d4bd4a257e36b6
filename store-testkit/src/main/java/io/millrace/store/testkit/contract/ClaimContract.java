package io.millrace.store.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Claim;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.When;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Claims that are answered at once. */
abstract class ClaimContract extends StoreTopic {
  @Test
  void a_claim_makes_the_client_the_owner_until_its_lease_ends() {
    Task waiting = add("map", "data");
    Outcome.Done done = store().claim(Claim.of(BOB, "map", LEASE)).done();
    Task held = done.tasks().getFirst();
    assertThat(held.id()).isGreaterThan(waiting.id());
    assertThat(held.origin()).isEqualTo(waiting.origin());
    assertThat(held.token()).isEqualTo(held.id());
    assertThat(held.heldByClaim()).isTrue();
    assertThat(held.claims()).isEqualTo(1);
    assertThat(held.owner()).isEqualTo(BOB);
    assertThat(held.data()).isEqualTo(waiting.data());
    assertThat(held.availableAtMillis()).isEqualTo(done.timeMillis() + LEASE.toMillis());
    assertThat(held.stateAt(done.timeMillis())).isEqualTo(Task.State.CLAIMED);
    assertThat(isThere(waiting.ref())).isFalse();
    assertThat(store().task(held.ref()).value()).contains(held);
  }

  @Test
  void a_claim_that_finds_nothing_is_done_with_no_task_and_changes_nothing() {
    Outcome.Done nothing = store().claim(Claim.of(ALICE, "empty", LEASE)).done();
    assertThat(nothing.tasks()).isEmpty();
    assertThat(store().groups().position()).isEqualTo(nothing.position());
  }

  @Test
  void a_claimed_task_cannot_be_claimed_again() {
    add("a", "");
    claim(ALICE, "a");
    assertThat(claimed(Claim.of(BOB, "a", LEASE))).isEmpty();
    assertThat(claimed(Claim.of(ALICE, "a", LEASE))).isEmpty();
  }

  @Test
  void oldest_takes_by_available_time_then_origin() {
    long now = now();
    add("a", "late", at(now - 1000), false);
    add("a", "early", at(now - 9000), false);
    Task first = add("a", "middle 1", at(now - 5000), false);
    add("a", "middle 2", at(now - 5000), false);
    // The id is new, but time and origin are the same: the task keeps its place in the order.
    commit(Transaction.by(ALICE).update(first.ref(), null, at(now - 5000)));
    Claim oldest = Claim.of(BOB, "a", LEASE).withOrder(Claim.Order.OLDEST).withCount(4);
    assertThat(texts(claimed(oldest))).containsExactly("early", "middle 1", "middle 2", "late");
  }

  @Test
  void newest_takes_the_other_way_round() {
    long now = now();
    add("a", "late", at(now - 1000), false);
    add("a", "early", at(now - 9000), false);
    add("a", "middle 1", at(now - 5000), false);
    add("a", "middle 2", at(now - 5000), false);
    Claim newest = Claim.of(BOB, "a", LEASE).withOrder(Claim.Order.NEWEST).withCount(4);
    assertThat(texts(claimed(newest))).containsExactly("late", "middle 2", "middle 1", "early");
  }

  @Test
  void random_takes_each_of_the_waiting_tasks_sometimes() {
    for (int i = 0; i < 3; i++) {
      add("a", "t" + i);
    }
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < 200 && seen.size() < 3; i++) {
      Task held = claimed(Claim.of(ALICE, "a", LEASE)).getFirst();
      seen.add(held.data().utf8());
      commit(Transaction.by(ALICE).release(held.ref()));
    }
    assertThat(seen).containsExactlyInAnyOrder("t0", "t1", "t2");
  }

  @Test
  void several_are_taken_at_once_and_fewer_where_fewer_wait() {
    for (int i = 0; i < 5; i++) {
      add("a", "t" + i);
    }
    assertThat(claimed(Claim.of(ALICE, "a", LEASE).withCount(3)))
        .hasSize(3)
        .extracting(Task::id)
        .doesNotHaveDuplicates();
    assertThat(claimed(Claim.of(BOB, "a", LEASE).withCount(3))).hasSize(2);
  }

  @Test
  void groups_are_tried_in_the_order_given() {
    add("second", "s1");
    add("first", "f1");
    add("first", "f2");
    Claim claim =
        Claim.of(ALICE, "first", LEASE)
            .withGroups(List.of("none", "first", "second"))
            .withOrder(Claim.Order.OLDEST);
    assertThat(texts(claimed(claim))).containsExactly("f1");
    assertThat(texts(claimed(claim.withCount(5)))).containsExactly("f2", "s1");
  }

  @Test
  void a_limit_stops_claims_while_so_many_are_claimed() {
    for (int i = 0; i < 3; i++) {
      add("a", "");
    }
    Claim limited = Claim.of(ALICE, "a", LEASE).withLimit(2);
    Task first = claimed(limited).getFirst();
    assertThat(claimed(limited)).hasSize(1);
    assertThat(claimed(limited)).isEmpty();
    assertThat(claimed(limited.withLimit(3))).hasSize(1);
    commit(Transaction.by(ALICE).delete(first.ref()));
    assertThat(claimed(limited)).isEmpty();
  }

  @Test
  void a_limit_holds_within_one_claim_of_several() {
    for (int i = 0; i < 5; i++) {
      add("a", "");
    }
    assertThat(claimed(Claim.of(ALICE, "a", LEASE).withCount(5).withLimit(2))).hasSize(2);
  }

  @Test
  void a_full_group_is_passed_over_for_the_next_one() {
    add("a", "1");
    add("a", "2");
    add("b", "3");
    Claim claim = Claim.of(ALICE, "a", LEASE).withGroups(List.of("a", "b")).withLimit(1);
    claimed(claim.withGroups(List.of("a")));
    assertThat(texts(claimed(claim))).containsExactly("3");
    assertThat(claimed(claim)).isEmpty();
  }

  @Test
  void a_limit_counts_only_claims() {
    add("a", "free");
    add("a", "owned by an add", When.after(LEASE), true);
    add("a", "delayed", When.after(LEASE), false);
    Task updated = add("a", "owned by an update");
    commit(Transaction.by(BOB).update(updated.ref(), null, When.after(LEASE)));
    assertThat(texts(claimed(Claim.of(ALICE, "a", LEASE).withLimit(1)))).containsExactly("free");
  }

  @Test
  void a_released_task_no_longer_counts() {
    add("a", "");
    Claim limited = Claim.of(ALICE, "a", LEASE).withLimit(1);
    commit(Transaction.by(ALICE).release(claimed(limited).getFirst().ref()));
    assertThat(claimed(limited)).hasSize(1);
  }

  @Test
  void a_claim_whose_lease_is_over_no_longer_counts() {
    add("a", "1");
    add("a", "2");
    Claim limited = Claim.of(ALICE, "a", LEASE).withLimit(1);
    claimed(limited);
    advance(LEASE);
    assertThat(claimed(limited)).hasSize(1);
    assertThat(claimed(limited)).isEmpty();
  }

  @Test
  void a_claim_succeeds_only_while_what_it_depends_on_is_there() {
    Task needed = add("needs", "");
    add("a", "");
    Claim claim = Claim.of(ALICE, "a", LEASE).withDepends(List.of(needed.ref()));
    commit(Transaction.by(BOB).update(needed.ref(), null, When.now()));
    Outcome.Refused refused = refused(store().claim(claim));
    assertThat(kinds(refused)).containsExactly(Kind.MISSING_DEPEND);
    assertThat(refused.reasons().getFirst().task()).isEqualTo(needed.ref());
    Claim byOrigin = claim.withDepends(List.of(TaskRef.origin(needed.origin())));
    assertThat(claimed(byOrigin)).hasSize(1);
  }

  @Test
  void every_claim_of_a_task_is_counted() {
    add("a", "");
    for (int i = 1; i <= 3; i++) {
      Task held = claim(Owner.client(i), "a");
      assertThat(held.claims()).isEqualTo(i);
      commit(Transaction.by(Owner.client(i)).release(held.ref()));
    }
    assertThat(tasksOf("a").getFirst().claims()).isEqualTo(3);
  }

  @Test
  void fencing_tokens_grow_from_owner_to_owner() {
    add("a", "");
    Task first = claim(ALICE, "a", Duration.ofSeconds(1));
    commit(Transaction.by(ALICE).release(first.ref()));
    assertThat(claim(BOB, "a").token()).isGreaterThan(first.token());
  }

  @Test
  void a_lease_of_no_length_counts_as_a_claim_and_ends_at_once() {
    add("a", "");
    Task first = claimed(Claim.of(ALICE, "a", Duration.ZERO)).getFirst();
    assertThat(first.claims()).isEqualTo(1);
    assertThat(claim(BOB, "a").claims()).isEqualTo(2);
  }

  private static When at(long millis) {
    return When.at(Instant.ofEpochMilli(millis));
  }
}
