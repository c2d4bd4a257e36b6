package io.millrace.store.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.Put;
import io.millrace.store.Transaction.Taking;
import io.millrace.store.Transaction.When;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Transactions that claim the tasks that they name. */
abstract class TakingContract extends StoreTopic {
  @Test
  void a_task_that_was_taken_is_as_after_a_claim() {
    Task waiting = add("map", "work");
    Outcome.Done done = commit(Transaction.by(ALICE).take(waiting.ref(), LEASE));
    Task held = done.tasks().getFirst();
    assertThat(held.id()).isGreaterThan(waiting.id());
    assertThat(held)
        .isEqualTo(
            new Task(
                held.id(),
                waiting.origin(),
                "map",
                done.timeMillis() + LEASE.toMillis(),
                ALICE,
                held.id(),
                1,
                waiting.data()));
    assertThat(store().task(held.ref()).value()).contains(held);
    assertThat(claimed(Claim.of(BOB, "map", LEASE))).isEmpty();
    Task renewed = commit(Transaction.by(ALICE).renew(held.ref(), LEASE)).tasks().getFirst();
    assertThat(renewed.token()).isEqualTo(held.id());
    commit(Transaction.by(ALICE).delete(renewed.ref()));
    assertThat(tasksOf("map")).isEmpty();
  }

  @Test
  void a_claim_and_its_record_are_one_commit() {
    Task one = add("map", "1");
    Task two = add("map", "2");
    Outcome.Done done =
        commit(
            Transaction.by(ALICE)
                .take(named(two, "second"))
                .take(named(one, "first"))
                .add(new Transaction.Add("map", Bytes.of("3"), When.now(), false, "third"))
                .put(
                    new Put(
                        doc("record"),
                        DocumentVersion.ABSENT,
                        Bytes.of("{{first}},{{second}},{{third}},{{first}}"),
                        true)));
    assertThat(texts(done.tasks())).containsExactly("3", "2", "1");
    long third = done.tasks().get(0).id();
    long second = done.tasks().get(1).token();
    long first = done.tasks().get(2).token();
    assertThat(store().document(doc("record")).value().orElseThrow().body().utf8())
        .isEqualTo(first + "," + second + "," + third + "," + first);
  }

  @Test
  void a_taking_counts_as_a_claim_but_is_not_limited_itself() {
    Task one = add("map", "1");
    Task two = add("map", "2");
    add("map", "3");
    commit(Transaction.by(ALICE).take(one.ref(), LEASE));
    assertThat(claimed(Claim.of(BOB, "map", LEASE).withLimit(1))).isEmpty();
    commit(Transaction.by(BOB).take(two.ref(), LEASE));
    assertThat(store().groups().value()).containsExactly(new GroupSummary("map", 1, 0, 2, 2));
    assertThat(claimed(Claim.of(BOB, "map", LEASE).withLimit(3))).hasSize(1);
  }

  @Test
  void a_task_is_taken_by_its_origin_whatever_its_id_is_now() {
    Task added = add("map", "x");
    commit(Transaction.by(BOB).update(added.ref(), Bytes.of("y"), When.now()));
    Task held =
        commit(Transaction.by(ALICE).take(TaskRef.origin(added.origin()), LEASE))
            .tasks()
            .getFirst();
    assertThat(held.data().utf8()).isEqualTo("y");
    assertThat(held.owner()).isEqualTo(ALICE);
  }

  @Test
  void a_task_that_has_changed_or_is_gone_cannot_be_taken() {
    Task changed = add("map", "x");
    commit(Transaction.by(BOB).update(changed.ref(), null, When.now()));
    Task gone = add("map", "y");
    commit(Transaction.by(BOB).delete(gone.ref()));
    Outcome.Refused refused =
        refused(Transaction.by(ALICE).take(changed.ref(), LEASE).take(gone.ref(), LEASE));
    assertThat(kinds(refused)).containsExactly(Kind.MISSING_UPDATE, Kind.MISSING_UPDATE);
    assertThat(refused.reasons().getFirst().task()).isEqualTo(changed.ref());
    assertThat(refused.reasons().getLast().task()).isEqualTo(gone.ref());
  }

  @Test
  void a_task_that_somebody_holds_cannot_be_taken() {
    add("a", "");
    TaskRef held = TaskRef.origin(claim(ALICE, "a").origin());
    Task owned = add("b", "", When.after(LEASE), true);
    assertThat(kinds(refused(Transaction.by(BOB).take(held, LEASE).take(owned.ref(), LEASE))))
        .containsExactly(Kind.OWNED_BY_ANOTHER, Kind.OWNED_BY_ANOTHER);
    assertThat(kinds(refused(Transaction.by(ALICE).take(held, LEASE).take(owned.ref(), LEASE))))
        .containsExactly(Kind.NOT_WAITING, Kind.NOT_WAITING);
  }

  @Test
  void a_delayed_task_cannot_be_taken_before_its_time() {
    Task delayed = add("a", "later", When.after(LEASE), false);
    Outcome.Refused refused = refused(Transaction.by(ALICE).take(delayed.ref(), LEASE));
    assertThat(kinds(refused)).containsExactly(Kind.NOT_WAITING);
    assertThat(refused.reasons().getFirst().task()).isEqualTo(delayed.ref());
    advance(LEASE);
    commit(Transaction.by(ALICE).take(delayed.ref(), LEASE));
  }

  @Test
  void a_task_past_its_lease_can_be_taken_by_anybody_under_a_larger_token() {
    add("a", "");
    Task first = claim(ALICE, "a");
    advance(LEASE);
    Task second = commit(Transaction.by(BOB).take(first.ref(), LEASE)).tasks().getFirst();
    assertThat(second.token()).isGreaterThan(first.token());
    assertThat(second.claims()).isEqualTo(2);
    assertThat(kinds(refused(Transaction.by(ALICE).renew(first.ref(), LEASE))))
        .containsExactly(Kind.MISSING_UPDATE);
  }

  @Test
  void a_lease_of_no_length_ends_at_once() {
    Task task = add("a", "");
    Task held = commit(Transaction.by(ALICE).take(task.ref(), Duration.ZERO)).tasks().getFirst();
    assertThat(held.claims()).isEqualTo(1);
    assertThat(held.stateAt(now())).isEqualTo(Task.State.WAITING);
    assertThat(claim(BOB, "a").claims()).isEqualTo(2);
  }

  @Test
  void one_taking_that_is_refused_refuses_everything_and_nothing_else_is_at_fault() {
    Task waiting = add("a", "");
    Task held = claim(BOB, "a");
    Task other = add("a", "");
    Outcome.Refused refused =
        refused(
            Transaction.by(ALICE)
                .take(other.ref(), LEASE)
                .take(named(waiting, "gone"))
                .put(new Put(doc("x"), DocumentVersion.ABSENT, Bytes.of("{{gone}}"), true)));
    assertThat(kinds(refused)).containsExactly(Kind.MISSING_UPDATE);
    assertThat(isThere(other.ref())).isTrue();
    assertThat(isThere(held.ref())).isTrue();
    assertThat(store().document(doc("x")).value()).isEmpty();
  }

  @Test
  void a_taking_that_contradicts_itself_is_malformed() {
    Task task = add("a", "");
    Task other = add("a", "");
    TaskRef ref = task.ref();
    for (Transaction.Builder malformed :
        List.of(
            Transaction.by(ALICE).take(ref, LEASE).take(ref, LEASE),
            Transaction.by(ALICE).take(ref, LEASE).take(TaskRef.origin(task.origin()), LEASE),
            Transaction.by(ALICE).take(ref, LEASE).delete(ref),
            Transaction.by(ALICE).take(ref, LEASE).release(ref),
            Transaction.by(ALICE).take(ref, Duration.ofMillis(-1)),
            Transaction.by(ALICE).take(new Taking(ref, Long.MAX_VALUE, null)),
            Transaction.by(ALICE).take(new Taking(ref, 1, "")),
            Transaction.by(ALICE).take(named(task, "n")).take(named(other, "n")))) {
      assertThat(kinds(refused(malformed))).containsOnly(Kind.MALFORMED);
    }
    assertThat(isThere(ref)).isTrue();
  }

  @Test
  void an_override_takes_nothing_from_an_owner() {
    assumeTrue(fixture().overrides(), "this back end has no operator");
    add("a", "");
    Task held = claim(ALICE, "a");
    assertThat(kinds(refused(Transaction.by(BOB).take(held.ref(), LEASE).override(true))))
        .containsExactly(Kind.NOT_WAITING);
  }

  @Test
  void a_repeated_taking_happens_once_and_other_content_is_told_apart() {
    Task task = add("a", "");
    Transaction taking = Transaction.by(ALICE).take(named(task, "n")).requestId("r1").build();
    Outcome.Done first = store().commit(taking).done();
    Outcome.Done second = store().commit(taking).done();
    assertThat(second.repeated()).isTrue();
    assertThat(second.tasks()).isEqualTo(first.tasks());
    for (Taking other :
        List.of(
            new Taking(task.ref(), LEASE.toMillis(), "m"),
            new Taking(task.ref(), LEASE.toMillis(), null),
            new Taking(task.ref(), LEASE.toMillis() + 1, "n"),
            new Taking(TaskRef.origin(task.origin()), LEASE.toMillis(), "n"))) {
      assertThat(kinds(refused(Transaction.by(ALICE).take(other).requestId("r1"))))
          .containsExactly(Kind.REQUEST_ID_REUSED);
    }
  }

  @Test
  void a_claim_that_waits_gets_what_was_taken_once_it_is_released() {
    Task task = add("a", "");
    Task held = commit(Transaction.by(ALICE).take(task.ref(), LEASE)).tasks().getFirst();
    CompletableFuture<Outcome> waiting =
        submit(Claim.of(BOB, "a", LEASE).withWait(Duration.ofSeconds(30)));
    assertThat(waiting).isNotDone();
    commit(Transaction.by(ALICE).release(held.ref()));
    assertThat(answer(waiting).done().tasks().getFirst().origin()).isEqualTo(task.origin());
  }

  @Test
  void a_restarted_store_remembers_what_was_taken() {
    Task task = add("a", "");
    Task held = commit(Transaction.by(ALICE).take(task.ref(), LEASE)).tasks().getFirst();
    restart();
    assertThat(store().task(held.ref()).value()).contains(held);
    assertThat(claimed(Claim.of(BOB, "a", LEASE))).isEmpty();
  }

  private static Taking named(Task task, String localName) {
    return new Taking(task.ref(), LEASE.toMillis(), localName);
  }
}
