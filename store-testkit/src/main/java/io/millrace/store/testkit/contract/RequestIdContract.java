package io.millrace.store.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.store.Claim;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Commands with a request id, which can be repeated if their answer was lost. */
abstract class RequestIdContract extends StoreTopic {
  private static final Duration REMEMBERED = Duration.ofMinutes(10);

  @Test
  void a_repeated_transaction_happens_once_and_gets_the_first_answer_marked_as_repeated() {
    Transaction transaction = Transaction.by(ALICE).add("a", "once").requestId("r1").build();
    Outcome.Done first = store().commit(transaction).done();
    add("b", "between");
    Outcome.Done second = store().commit(transaction).done();
    assertThat(first.repeated()).isFalse();
    assertThat(second.repeated()).isTrue();
    assertThat(second.tasks()).isEqualTo(first.tasks());
    assertThat(tasksOf("a")).hasSize(1);
  }

  @Test
  void a_repeated_claim_gives_the_same_task() {
    add("a", "1");
    add("a", "2");
    Claim claim = Claim.of(ALICE, "a", LEASE).withRequestId("r1");
    Task held = store().claim(claim).done().tasks().getFirst();
    Outcome.Done again = store().claim(claim).done();
    assertThat(again.repeated()).isTrue();
    assertThat(again.tasks()).containsExactly(held);
    assertThat(claimed(Claim.of(BOB, "a", LEASE).withCount(5))).hasSize(1);
  }

  @Test
  void other_content_under_the_same_request_id_is_refused() {
    commit(Transaction.by(ALICE).add("a", "once").requestId("r1"));
    Outcome.Refused refused = refused(Transaction.by(ALICE).add("a", "other").requestId("r1"));
    assertThat(kinds(refused)).containsExactly(Kind.REQUEST_ID_REUSED);
    Outcome.Refused claim = refused(store().claim(Claim.of(ALICE, "a", LEASE).withRequestId("r1")));
    assertThat(kinds(claim)).containsExactly(Kind.REQUEST_ID_REUSED);
    assertThat(texts(tasksOf("a"))).containsExactly("once");
  }

  @Test
  void a_request_id_is_remembered_for_ten_minutes_of_store_time() {
    Transaction transaction = Transaction.by(ALICE).add("a", "x").requestId("r1").build();
    store().commit(transaction).done();
    advance(REMEMBERED.minusMillis(1));
    assertThat(store().commit(transaction).done().repeated()).isTrue();
    advance(Duration.ofSeconds(2));
    assertThat(store().commit(transaction).done().repeated()).isFalse();
    assertThat(tasksOf("a")).hasSize(2);
  }

  @Test
  void a_request_id_is_remembered_through_a_restart() {
    Transaction transaction = Transaction.by(ALICE).add("a", "x").requestId("r1").build();
    Outcome.Done first = store().commit(transaction).done();
    restart();
    Outcome.Done second = store().commit(transaction).done();
    assertThat(second.repeated()).isTrue();
    assertThat(second.tasks()).isEqualTo(first.tasks());
    assertThat(tasksOf("a")).hasSize(1);
  }

  @Test
  void a_repeated_answer_names_its_own_first_position() {
    Transaction transaction = Transaction.by(ALICE).add("a", "x").requestId("r1").build();
    Outcome.Done first = store().commit(transaction).done();
    add("b", "between");
    assertThat(store().commit(transaction).position()).isEqualTo(first.position());
  }

  @Test
  void a_refused_transaction_leaves_its_request_id_free() {
    TaskRef unknown = TaskRef.id(1L << 40);
    assertThat(kinds(refused(Transaction.by(ALICE).delete(unknown).requestId("r1"))))
        .containsExactly(Kind.MISSING_DELETE);
    assertThat(commit(Transaction.by(ALICE).add("a", "x").requestId("r1")).repeated()).isFalse();
  }

  @Test
  void a_claim_that_found_nothing_leaves_its_request_id_free() {
    Claim claim = Claim.of(ALICE, "a", LEASE).withRequestId("r1");
    assertThat(claimed(claim)).isEmpty();
    add("a", "x");
    assertThat(claimed(claim)).hasSize(1);
  }

  @Test
  void the_request_ids_of_two_principals_are_not_the_same() {
    assumeTrue(fixture().severalPrincipals(), "this back end has one principal");
    commit(Transaction.by(new Owner("one", 1)).add("a", "1").requestId("r1"));
    Outcome.Done other = commit(Transaction.by(new Owner("two", 1)).add("a", "2").requestId("r1"));
    assertThat(other.repeated()).isFalse();
    assertThat(tasksOf("a")).hasSize(2);
  }
}
