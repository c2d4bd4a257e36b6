package io.millrace.store.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Claim;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.When;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Claims that wait for a task. */
abstract class WaitingClaimContract extends StoreTopic {
  private static final Duration WAIT = Duration.ofSeconds(30);

  @Test
  void a_waiting_claim_gets_the_task_that_is_added() {
    CompletableFuture<Outcome> waiting = waitFor(ALICE, "a");
    assertThat(waiting).isNotDone();
    Task added = add("a", "x");
    Task held = answer(waiting).done().tasks().getFirst();
    assertThat(held.origin()).isEqualTo(added.origin());
    assertThat(held.owner()).isEqualTo(ALICE);
  }

  @Test
  void a_claim_that_finds_a_task_does_not_wait() {
    add("a", "x");
    assertThat(answer(waitFor(ALICE, "a")).done().tasks()).hasSize(1);
  }

  @Test
  void waiting_claims_are_served_first_come_first_served() {
    CompletableFuture<Outcome> first = waitFor(Owner.client(11), "a");
    CompletableFuture<Outcome> second = waitFor(Owner.client(12), "a");
    add("a", "1");
    assertThat(texts(answer(first).done().tasks())).containsExactly("1");
    settle();
    assertThat(second).isNotDone();
    add("a", "2");
    assertThat(texts(answer(second).done().tasks())).containsExactly("2");
  }

  @Test
  void a_cancelled_waiter_is_passed_over() {
    CompletableFuture<Outcome> first = waitFor(Owner.client(11), "a");
    CompletableFuture<Outcome> second = waitFor(Owner.client(12), "a");
    assertThat(first.cancel(false)).isTrue();
    settle();
    add("a", "1");
    assertThat(answer(second).done().tasks()).hasSize(1);
    assertThat(tasksOf("a").getFirst().owner()).isEqualTo(Owner.client(12));
  }

  @Test
  void a_wait_that_is_over_answers_with_nothing() {
    CompletableFuture<Outcome> waiting = waitFor(ALICE, "a");
    advance(WAIT.minusMillis(1));
    assertThat(waiting).isNotDone();
    advance(Duration.ofMillis(1));
    assertThat(answer(waiting).done().tasks()).isEmpty();
    add("a", "too late");
    assertThat(claimed(Claim.of(BOB, "a", LEASE))).hasSize(1);
  }

  @Test
  void a_waiting_claim_gets_a_delayed_task_when_its_time_comes() {
    add("a", "later", When.after(Duration.ofSeconds(10)), false);
    CompletableFuture<Outcome> waiting = waitFor(BOB, "a");
    advance(Duration.ofSeconds(9));
    assertThat(waiting).isNotDone();
    advance(Duration.ofSeconds(1));
    assertThat(texts(answer(waiting).done().tasks())).containsExactly("later");
  }

  @Test
  void a_claim_whose_wait_ends_gets_nothing_ahead_of_an_earlier_one() {
    CompletableFuture<Outcome> first =
        submit(Claim.of(Owner.client(11), "a", LEASE).withWait(WAIT.multipliedBy(2)));
    CompletableFuture<Outcome> second = waitFor(Owner.client(12), "a");
    add("a", "later", When.after(WAIT), false);
    advance(WAIT);
    assertThat(texts(answer(first).done().tasks())).containsExactly("later");
    assertThat(answer(second).done().tasks()).isEmpty();
  }

  @Test
  void a_waiting_claim_gets_an_abandoned_task_when_its_lease_ends() {
    add("a", "abandoned");
    claim(ALICE, "a", Duration.ofSeconds(10));
    CompletableFuture<Outcome> waiting = waitFor(BOB, "a");
    advance(Duration.ofSeconds(10));
    Task held = answer(waiting).done().tasks().getFirst();
    assertThat(held.owner()).isEqualTo(BOB);
    assertThat(held.claims()).isEqualTo(2);
  }

  @Test
  void a_waiting_claim_gets_a_released_task() {
    add("a", "x");
    Task held = claim(ALICE, "a");
    CompletableFuture<Outcome> waiting = waitFor(BOB, "a");
    commit(Transaction.by(ALICE).release(held.ref()));
    assertThat(answer(waiting).done().tasks()).hasSize(1);
  }

  @Test
  void a_waiting_claim_goes_on_when_a_limit_allows_it_again() {
    add("a", "1");
    add("a", "2");
    Task held = claim(ALICE, "a");
    CompletableFuture<Outcome> waiting =
        submit(Claim.of(BOB, "a", LEASE).withLimit(1).withWait(WAIT));
    settle();
    assertThat(waiting).isNotDone();
    commit(Transaction.by(ALICE).delete(held.ref()));
    assertThat(texts(answer(waiting).done().tasks())).containsExactly("2");
  }

  @Test
  void a_waiting_claim_takes_from_any_of_its_groups() {
    CompletableFuture<Outcome> waiting =
        submit(Claim.of(ALICE, "a", LEASE).withGroups(List.of("a", "b")).withWait(WAIT));
    add("c", "other");
    add("b", "mine");
    assertThat(texts(answer(waiting).done().tasks())).containsExactly("mine");
  }

  @Test
  void a_waiting_claim_of_several_takes_what_one_transaction_adds() {
    CompletableFuture<Outcome> waiting =
        submit(
            Claim.of(ALICE, "a", LEASE).withCount(3).withOrder(Claim.Order.OLDEST).withWait(WAIT));
    commit(Transaction.by(BOB).add("a", "1").add("a", "2"));
    assertThat(texts(answer(waiting).done().tasks())).containsExactly("1", "2");
  }

  @Test
  void a_waiter_for_another_group_holds_nobody_up() {
    CompletableFuture<Outcome> other = waitFor(ALICE, "empty");
    CompletableFuture<Outcome> mine = waitFor(BOB, "a");
    add("a", "x");
    assertThat(answer(mine).done().tasks()).hasSize(1);
    assertThat(other).isNotDone();
  }

  @Test
  void a_waiting_claim_is_refused_when_what_it_depends_on_is_gone() {
    Task needed = add("needs", "");
    CompletableFuture<Outcome> waiting =
        submit(Claim.of(ALICE, "a", LEASE).withDepends(List.of(needed.ref())).withWait(WAIT));
    commit(Transaction.by(BOB).delete(needed.ref()));
    add("a", "x");
    assertThat(kinds(refused(answer(waiting)))).containsExactly(Kind.MISSING_DEPEND);
    assertThat(claimed(Claim.of(BOB, "a", LEASE))).hasSize(1);
  }

  private CompletableFuture<Outcome> waitFor(Owner client, String group) {
    return submit(Claim.of(client, group, LEASE).withOrder(Claim.Order.OLDEST).withWait(WAIT));
  }
}
