package io.millrace.store.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Bytes;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.When;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** References to tasks by origin, and by local names within a transaction. */
abstract class OriginContract extends StoreTopic {
  @Test
  void a_task_keeps_its_origin_through_claims_and_updates_and_is_found_by_it() {
    Task added = add("a", "");
    TaskRef origin = TaskRef.origin(added.id());
    assertThat(store().task(origin).value()).contains(added);
    Task held = claim(ALICE, "a");
    assertThat(store().task(origin).value()).contains(held);
    Task changed =
        commit(Transaction.by(ALICE).update(held.ref(), Bytes.of("x"), When.now()))
            .tasks()
            .getFirst();
    assertThat(store().task(origin).value()).contains(changed);
    assertThat(changed.origin()).isEqualTo(added.id());
    commit(Transaction.by(BOB).delete(changed.ref()));
    assertThat(store().task(origin).value()).isEqualTo(Optional.empty());
  }

  @Test
  void a_transaction_may_name_tasks_by_origin() {
    Task one = add("a", "1");
    Task two = add("a", "2");
    Task three = add("b", "3");
    claim(ALICE, "b");
    commit(
        Transaction.by(ALICE)
            .update(TaskRef.origin(one.origin()), Bytes.of("one"), When.now())
            .delete(TaskRef.origin(two.origin()))
            .renew(TaskRef.origin(three.origin()), LEASE)
            .depend(TaskRef.origin(one.origin())));
    assertThat(texts(tasksOf("a"))).containsExactly("one");
  }

  @Test
  void named_by_both_a_task_must_have_that_id_still() {
    Task added = add("a", "");
    TaskRef both = new TaskRef(added.id(), added.origin());
    assertThat(isThere(both)).isTrue();
    Task changed = commit(Transaction.by(ALICE).update(both, null, When.now())).tasks().getFirst();
    assertThat(isThere(both)).isFalse();
    Outcome.Refused refused = refused(Transaction.by(ALICE).delete(both));
    assertThat(kinds(refused)).containsExactly(Kind.MISSING_DELETE);
    assertThat(refused.reasons().getFirst().task()).isEqualTo(both);
    commit(Transaction.by(ALICE).delete(new TaskRef(changed.id(), added.origin())));
  }

  @Test
  void an_id_with_the_origin_of_another_task_names_nothing() {
    Task one = add("a", "1");
    Task two = add("a", "2");
    assertThat(isThere(new TaskRef(one.id(), two.origin()))).isFalse();
  }

  @Test
  void an_origin_is_not_an_id() {
    Task added = add("a", "");
    claim(ALICE, "a");
    assertThat(isThere(TaskRef.id(added.origin()))).isFalse();
  }

  @Test
  void a_later_id_is_not_an_origin() {
    add("a", "");
    Task held = claim(ALICE, "a");
    assertThat(isThere(TaskRef.origin(held.id()))).isFalse();
  }

  @Test
  void a_missing_origin_is_named_in_the_refusal() {
    Task added = add("a", "");
    commit(Transaction.by(ALICE).delete(added.ref()));
    TaskRef gone = TaskRef.origin(added.origin());
    Outcome.Refused refused =
        refused(Transaction.by(ALICE).update(gone, null, When.now()).add("b", ""));
    assertThat(kinds(refused)).containsExactly(Kind.MISSING_UPDATE);
    assertThat(refused.reasons().getFirst().task()).isEqualTo(gone);
  }

  @Test
  void documents_of_a_transaction_refer_to_its_new_tasks_by_local_names() {
    Outcome.Done done =
        commit(
            Transaction.by(ALICE)
                .add(named("a", "first"))
                .add(named("b", "ü {weird} näme"))
                .put(
                    new Transaction.Put(
                        doc("links"),
                        Transaction.DocumentVersion.ABSENT,
                        Bytes.of("[{{first}},{{ü {weird} näme}},{{first}}] {}"),
                        true)));
    List<Task> tasks = done.tasks();
    long first = tasks.get(0).id();
    long second = tasks.get(1).id();
    String expected = "[" + first + "," + second + "," + first + "] {}";
    assertThat(done.documents().getFirst().body().utf8()).isEqualTo(expected);
    assertThat(store().document(doc("links")).value().orElseThrow().body().utf8())
        .isEqualTo(expected);
  }

  @Test
  void a_document_that_is_no_template_is_left_as_it_is() {
    commit(Transaction.by(ALICE).add(named("a", "first")).put(doc("x"), 0, Bytes.of("{{first}}")));
    assertThat(store().document(doc("x")).value().orElseThrow().body().utf8())
        .isEqualTo("{{first}}");
  }

  private static Transaction.Add named(String group, String localName) {
    return new Transaction.Add(group, Bytes.EMPTY, When.now(), false, localName);
  }
}
