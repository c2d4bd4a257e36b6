package io.millrace.store.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Bytes;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.Owner;
import io.millrace.store.RefusedException;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.When;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

/** Transactions of adds, updates, deletes and depends apply whole or not at all. */
abstract class TransactionContract extends StoreTopic {
  @Test
  void an_added_task_is_waiting_and_unclaimed_and_can_be_read() {
    long before = now();
    Task task = add("map", "some data");
    assertThat(task.id()).isPositive();
    assertThat(task.origin()).isEqualTo(task.id());
    assertThat(task.group()).isEqualTo("map");
    assertThat(task.data()).isEqualTo(Bytes.of("some data"));
    assertThat(task.availableAtMillis()).isBetween(before, now());
    assertThat(task.stateAt(now())).isEqualTo(Task.State.WAITING);
    assertThat(task.heldByClaim()).isFalse();
    assertThat(task.claims()).isZero();
    assertThat(store().task(task.ref()).value()).contains(task);
  }

  @Test
  void the_answer_lists_adds_updates_renewals_and_takings_in_the_order_asked() {
    Task first = add("a", "1");
    Task second = add("a", "2");
    add("b", "3");
    Task held = claim(ALICE, "b");
    Task fourth = add("b", "4");
    Task fifth = add("b", "5");
    List<Task> tasks =
        commit(
                Transaction.by(ALICE)
                    .take(fifth.ref(), LEASE)
                    .take(fourth.ref(), LEASE)
                    .renew(held.ref(), LEASE)
                    .update(second.ref(), Bytes.of("two"), When.now())
                    .update(first.ref(), Bytes.of("one"), When.now())
                    .add("c", "x")
                    .add("c", "y"))
            .tasks();
    assertThat(texts(tasks)).containsExactly("x", "y", "two", "one", "3", "5", "4");
  }

  @Test
  void an_update_makes_a_new_task_with_a_larger_id_in_the_same_group() {
    Task old = add("map", "before");
    Task last = add("map", "another");
    Task changed =
        commit(Transaction.by(BOB).update(old.ref(), Bytes.of("after"), When.now()))
            .tasks()
            .getFirst();
    assertThat(changed.id()).isGreaterThan(last.id());
    assertThat(changed.origin()).isEqualTo(old.id());
    assertThat(changed.group()).isEqualTo("map");
    assertThat(changed.data()).isEqualTo(Bytes.of("after"));
    assertThat(isThere(old.ref())).isFalse();
    assertThat(store().task(changed.ref()).value()).contains(changed);
  }

  @Test
  void an_update_without_data_keeps_the_data() {
    Task old = add("map", "kept");
    Task changed =
        commit(Transaction.by(ALICE).update(old.ref(), null, When.now())).tasks().getFirst();
    assertThat(changed.data()).isEqualTo(old.data());
  }

  @Test
  void a_deleted_task_is_gone_and_so_is_its_empty_group() {
    Task task = add("map", "x");
    commit(Transaction.by(BOB).delete(task.ref()));
    assertThat(store().task(task.ref()).value()).isEqualTo(Optional.empty());
    assertThat(store().groups().value()).isEmpty();
  }

  @Test
  void ids_only_grow_and_are_not_used_again_after_deletes() {
    Task first = add("a", "");
    commit(Transaction.by(ALICE).delete(first.ref()));
    Task second = add("a", "");
    Task claimed = claim(BOB, "a");
    assertThat(second.id()).isGreaterThan(first.id());
    assertThat(claimed.id()).isGreaterThan(second.id());
  }

  @Test
  void a_depended_upon_task_is_not_changed() {
    Task needed = add("a", "needed");
    commit(Transaction.by(BOB).depend(needed.ref()).add("b", "new"));
    assertThat(store().task(needed.ref()).value()).contains(needed);
  }

  @Test
  void another_clients_claimed_task_may_be_depended_upon() {
    add("a", "needed");
    Task held = claim(ALICE, "a");
    commit(Transaction.by(BOB).depend(held.ref()).add("b", "new"));
    assertThat(tasksOf("b")).hasSize(1);
  }

  @Test
  void a_missing_dependency_refuses_everything() {
    Task needed = add("a", "needed");
    commit(Transaction.by(ALICE).update(needed.ref(), null, When.now()));
    Outcome.Refused refused = refused(Transaction.by(BOB).depend(needed.ref()).add("b", "new"));
    assertThat(kinds(refused)).containsExactly(Kind.MISSING_DEPEND);
    assertThat(refused.reasons().getFirst().task()).isEqualTo(needed.ref());
    assertThat(tasksOf("b")).isEmpty();
  }

  @Test
  void a_refusal_names_every_reason_by_kind_at_once() {
    Task gone = add("a", "gone");
    commit(Transaction.by(ALICE).delete(gone.ref()));
    add("b", "owned");
    Task owned = claim(ALICE, "b");
    Task waiting = add("c", "never claimed");
    Task delayed = add("c", "later", When.after(LEASE), false);
    TaskRef unknown = TaskRef.id(1L << 50);
    Outcome.Refused refused =
        refused(
            Transaction.by(BOB)
                .add("d", "new")
                .update(gone.ref(), null, When.now())
                .delete(unknown)
                .delete(owned.ref())
                .depend(TaskRef.origin(1L << 51))
                .renew(waiting.ref(), LEASE)
                .take(delayed.ref(), LEASE)
                .put(doc("x"), 7, Bytes.of("body"))
                .depend(doc("y"), 8));
    assertThat(kinds(refused))
        .containsExactlyInAnyOrder(
            Kind.MISSING_UPDATE,
            Kind.MISSING_DELETE,
            Kind.OWNED_BY_ANOTHER,
            Kind.MISSING_DEPEND,
            Kind.LEASE_ENDED,
            Kind.NOT_WAITING,
            Kind.VERSION_CONFLICT,
            Kind.VERSION_CONFLICT);
    assertThat(refused.reasons())
        .allSatisfy(reason -> assertThat(reason.message()).contains(named(reason)));
  }

  @Test
  void nothing_remains_of_a_refused_transaction() {
    Task kept = add("a", "kept");
    Outcome.Refused refused =
        refused(
            Transaction.by(ALICE)
                .add("b", "new")
                .update(kept.ref(), Bytes.of("changed"), When.now())
                .put(doc("x"), Transaction.DocumentVersion.ABSENT, Bytes.of("body"))
                .delete(TaskRef.id(kept.id() + 1000)));
    assertThat(store().task(kept.ref()).value()).contains(kept);
    assertThat(tasksOf("b")).isEmpty();
    assertThat(store().document(doc("x")).value()).isEmpty();
    assertThat(store().groups().position()).isEqualTo(refused.position());
  }

  @Test
  void only_the_first_of_two_changes_of_the_same_task_succeeds() {
    Task task = add("a", "");
    commit(Transaction.by(ALICE).update(task.ref(), Bytes.of("first"), When.now()));
    Outcome.Refused refused =
        refused(Transaction.by(BOB).update(task.ref(), Bytes.of("second"), When.now()));
    assertThat(kinds(refused)).containsExactly(Kind.MISSING_UPDATE);
    assertThat(texts(tasksOf("a"))).containsExactly("first");
  }

  @Test
  void an_update_into_the_future_makes_the_client_the_owner() {
    Task task = add("a", "");
    Task mine =
        commit(Transaction.by(ALICE).update(task.ref(), null, When.after(LEASE)))
            .tasks()
            .getFirst();
    assertThat(mine.owner()).isEqualTo(ALICE);
    assertThat(mine.stateAt(now())).isEqualTo(Task.State.CLAIMED);
    assertThat(kinds(refused(Transaction.by(BOB).delete(mine.ref()))))
        .containsExactly(Kind.OWNED_BY_ANOTHER);
  }

  @Test
  void every_commit_has_its_own_position_and_time_does_not_go_back() {
    Outcome.Done first = commit(Transaction.by(ALICE).add("a", "1"));
    Outcome.Done second = commit(Transaction.by(BOB).add("a", "2"));
    assertThat(second.position().history()).isEqualTo(first.position().history());
    assertThat(second.position().number()).isEqualTo(first.position().number() + 1);
    assertThat(second.timeMillis()).isGreaterThanOrEqualTo(first.timeMillis());
    assertThat(second.repeated()).isFalse();
  }

  @Test
  void a_refusal_can_be_thrown_with_all_its_reasons() {
    Outcome.Refused refused = refused(Transaction.by(ALICE).delete(TaskRef.id(99)));
    Assertions.assertThatThrownBy(refused::done)
        .isInstanceOfSatisfying(
            RefusedException.class, e -> assertThat(e.refused()).isEqualTo(refused));
  }

  @Test
  void many_parts_are_applied_together() {
    Transaction.Builder many = Transaction.by(ALICE);
    for (int i = 0; i < 20; i++) {
      many.add("g" + i % 3, "t" + i);
    }
    List<Task> tasks = commit(many).tasks();
    assertThat(tasks).extracting(Task::id).isSorted().doesNotHaveDuplicates();
    Transaction.Builder change = Transaction.by(Owner.client(77));
    tasks.subList(0, 10).forEach(task -> change.delete(task.ref()));
    tasks
        .subList(10, 20)
        .forEach(task -> change.update(task.ref(), null, When.after(Duration.ofHours(1))));
    assertThat(commit(change).tasks()).hasSize(10);
    assertThat(store().groups().value()).allSatisfy(group -> assertThat(group.waiting()).isZero());
  }

  private static String named(Reason reason) {
    if (reason.task() != null) {
      TaskRef task = reason.task();
      return Long.toString(task.id() == 0 ? task.origin() : task.id());
    }
    return reason.document() == null ? "" : reason.document().key();
  }
}
