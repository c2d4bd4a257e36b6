package io.millrace.store.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.Owner;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.Task;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.When;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Ownership: which clients may change a task. */
abstract class OwnershipContract extends StoreTopic {
  @Test
  void a_claimed_task_can_be_changed_only_by_its_owner() {
    add("a", "");
    Task held = claim(ALICE, "a");
    refusedAsOwned(Transaction.by(BOB).delete(held.ref()));
    refusedAsOwned(Transaction.by(BOB).update(held.ref(), Bytes.of("x"), When.now()));
    refusedAsOwned(Transaction.by(BOB).renew(held.ref(), LEASE));
    assertThat(store().task(held.ref()).value()).contains(held);
    commit(Transaction.by(ALICE).delete(held.ref()));
  }

  @Test
  void a_waiting_task_can_be_changed_by_anybody() {
    Task task = add("a", "");
    Task changed =
        commit(Transaction.by(BOB).update(task.ref(), Bytes.of("b"), When.now()))
            .tasks()
            .getFirst();
    commit(Transaction.by(ALICE).delete(changed.ref()));
    assertThat(tasksOf("a")).isEmpty();
  }

  @Test
  void a_task_past_its_lease_can_be_changed_by_anybody() {
    add("a", "");
    Task held = claim(ALICE, "a");
    advance(LEASE);
    commit(Transaction.by(BOB).delete(held.ref()));
    assertThat(tasksOf("a")).isEmpty();
  }

  @Test
  void the_same_client_id_of_another_principal_is_another_owner() {
    Assumptions.assumeTrue(fixture().severalPrincipals(), "this back end has one principal");
    Owner mine = new Owner("one", 5);
    Owner theirs = new Owner("two", 5);
    add("a", "");
    Task held = claim(mine, "a");
    assertThat(held.owner()).isEqualTo(mine);
    refusedAsOwned(Transaction.by(theirs).delete(held.ref()));
    refusedAsOwned(Transaction.by(Owner.client(5)).delete(held.ref()));
    commit(Transaction.by(mine).delete(held.ref()));
  }

  @Test
  void an_operator_may_override_and_the_commit_says_so() throws InterruptedException {
    Assumptions.assumeTrue(fixture().overrides(), "this back end has no operator");
    add("a", "");
    Task held = claim(ALICE, "a");
    try (Subscription commits = store().subscribe(Interest.everything())) {
      Outcome.Done done = commit(Transaction.by(BOB).delete(held.ref()).override(true));
      assertThat(Objects.requireNonNull(commits.next(Duration.ofSeconds(30))))
          .satisfies(commit -> {
            assertThat(commit.override()).isTrue();
            assertThat(commit.client()).isEqualTo(BOB);
            assertThat(commit.position()).isEqualTo(done.position());
          });
    }
    assertThat(tasksOf("a")).isEmpty();
  }

  @Test
  void an_override_does_not_bring_back_what_is_gone() {
    Assumptions.assumeTrue(fixture().overrides(), "this back end has no operator");
    Task task = add("a", "");
    commit(Transaction.by(ALICE).delete(task.ref()));
    assertThat(kinds(refused(Transaction.by(BOB).delete(task.ref()).override(true))))
        .containsExactly(Kind.MISSING_DELETE);
  }

  @Test
  void a_claim_needs_no_ownership_of_what_it_depends_on() {
    add("a", "");
    Task held = claim(ALICE, "a");
    add("b", "");
    assertThat(claimed(Claim.of(BOB, "b", LEASE).withDepends(List.of(held.ref())))).hasSize(1);
  }

  private void refusedAsOwned(Transaction.Builder transaction) {
    assertThat(kinds(refused(transaction))).containsExactly(Kind.OWNED_BY_ANOTHER);
  }
}
