package io.millrace.store.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.When;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Commands that are malformed or contradict themselves. */
abstract class MalformedContract extends StoreTopic {
  @Test
  void a_transaction_that_asks_for_nothing_is_malformed() {
    malformed(Transaction.by(ALICE));
  }

  @Test
  void one_task_twice_in_a_transaction_is_malformed() {
    Task task = add("a", "");
    TaskRef ref = task.ref();
    malformed(Transaction.by(ALICE).delete(ref).delete(ref));
    malformed(Transaction.by(ALICE).update(ref, null, When.now()).delete(ref));
    malformed(
        Transaction.by(ALICE).update(ref, null, When.now()).update(ref, Bytes.of("x"), When.now()));
    assertThat(isThere(ref)).isTrue();
  }

  @Test
  void one_task_by_id_and_by_origin_is_the_same_task_twice() {
    Task task = add("a", "");
    malformed(Transaction.by(ALICE).delete(task.ref()).delete(TaskRef.origin(task.origin())));
    assertThat(isThere(task.ref())).isTrue();
  }

  @Test
  void a_task_to_renew_and_to_change_is_malformed() {
    add("a", "");
    Task held = claim(ALICE, "a");
    malformed(Transaction.by(ALICE).renew(held.ref(), LEASE).delete(held.ref()));
    malformed(Transaction.by(ALICE).renew(held.ref(), LEASE).release(held.ref()));
    malformed(Transaction.by(ALICE).renew(held.ref(), LEASE).renew(held.ref(), LEASE));
    assertThat(isThere(held.ref())).isTrue();
  }

  @Test
  void one_document_twice_in_a_transaction_is_malformed() {
    commit(Transaction.by(ALICE).put(doc("x"), DocumentVersion.ABSENT, Bytes.of("0")));
    malformed(
        Transaction.by(ALICE)
            .put(doc("x"), DocumentVersion.ANY, Bytes.of("1"))
            .put(doc("x"), DocumentVersion.ANY, Bytes.of("2")));
    malformed(
        Transaction.by(ALICE)
            .put(doc("x"), DocumentVersion.ANY, Bytes.of("1"))
            .delete(doc("x"), DocumentVersion.ANY));
    assertThat(store().document(doc("x")).value().orElseThrow().body().utf8()).isEqualTo("0");
  }

  @Test
  void a_local_name_used_twice_is_malformed() {
    malformed(Transaction.by(ALICE).add(named("n")).add(named("n")));
  }

  @Test
  void a_template_that_names_no_added_task_is_malformed() {
    malformed(
        Transaction.by(ALICE)
            .add(named("n"))
            .put(new Transaction.Put(doc("x"), 0, Bytes.of("{{other}}"), true)));
  }

  @Test
  void an_empty_group_is_malformed() {
    malformed(Transaction.by(ALICE).add("", "x"));
    malformed(Claim.of(ALICE, "", LEASE));
  }

  @Test
  void an_empty_document_name_is_malformed() {
    malformed(Transaction.by(ALICE).put(new DocumentKey("", "k"), 0, Bytes.EMPTY));
    malformed(Transaction.by(ALICE).put(new DocumentKey("c", ""), 0, Bytes.EMPTY));
  }

  @Test
  void a_claim_of_no_group_or_of_no_task_is_malformed() {
    malformed(Claim.of(ALICE, "a", LEASE).withGroups(List.of()));
    malformed(Claim.of(ALICE, "a", LEASE).withGroups(List.of("a", "a")));
    malformed(Claim.of(ALICE, "a", LEASE).withCount(0));
    malformed(Claim.of(ALICE, "a", LEASE).withCount(-1));
    malformed(Claim.of(ALICE, "a", LEASE).withLimit(-1));
  }

  @Test
  void negative_durations_are_malformed() {
    Duration negative = Duration.ofMillis(-1);
    malformed(Claim.of(ALICE, "a", negative));
    malformed(Claim.of(ALICE, "a", LEASE).withWait(negative));
    add("a", "");
    Task held = claim(ALICE, "a");
    malformed(Transaction.by(ALICE).renew(held.ref(), negative));
    malformed(Transaction.by(ALICE).renew(held.ref(), Duration.ZERO));
    malformed(Transaction.by(ALICE).add(timed(new When.After(-1))));
    malformed(Transaction.by(ALICE).add(timed(new When.At(-1))));
  }

  @Test
  void a_client_id_outside_of_its_range_is_malformed() {
    malformed(Transaction.by(Owner.client(-1)).add("a", ""));
    malformed(Transaction.by(Owner.client(1L << 53)).add("a", ""));
    malformed(Claim.of(Owner.client(-1), "a", LEASE));
    assertThat(commit(Transaction.by(Owner.client((1L << 53) - 1)).add("a", "")).tasks())
        .hasSize(1);
  }

  @Test
  void times_beyond_what_can_be_counted_are_malformed() {
    malformed(Transaction.by(ALICE).add(timed(new When.After(Long.MAX_VALUE))));
    add("a", "");
    malformed(
        new Claim(
            ALICE, List.of("a"), Long.MAX_VALUE, 1, Claim.Order.OLDEST, 0, 0, List.of(), null));
    assertThat(tasksOf("a")).hasSize(1);
  }

  @Test
  void an_empty_request_id_is_malformed() {
    malformed(Transaction.by(ALICE).add("a", "").requestId(""));
    malformed(Claim.of(ALICE, "a", LEASE).withRequestId(""));
  }

  @Test
  void text_that_is_no_unicode_is_malformed() {
    String loneSurrogate = "a\uD800";
    malformed(Transaction.by(ALICE).add(loneSurrogate, ""));
    malformed(Transaction.by(ALICE).put(doc(loneSurrogate), 0, Bytes.EMPTY));
    malformed(Claim.of(ALICE, loneSurrogate, LEASE));
  }

  @Test
  void a_version_below_any_is_malformed() {
    malformed(Transaction.by(ALICE).put(doc("x"), -2, Bytes.EMPTY));
  }

  @Test
  void everything_malformed_is_named_at_once_and_nothing_else() {
    Outcome.Refused refused =
        refused(
            Transaction.by(ALICE)
                .add("", "")
                .add(timed(new When.At(-5)))
                .delete(TaskRef.id(12345)));
    assertThat(kinds(refused)).contains(Kind.MALFORMED, Kind.MALFORMED);
  }

  @Test
  void a_reference_that_names_no_task_is_malformed_and_hides_no_other_reason() {
    TaskRef nameless = new TaskRef(0, 0);
    malformed(Transaction.by(ALICE).delete(nameless));
    malformed(Transaction.by(ALICE).update(new TaskRef(-1, 0), null, When.now()));
    malformed(Transaction.by(ALICE).renew(new TaskRef(0, -1), LEASE));
    malformed(Transaction.by(ALICE).take(nameless, LEASE));
    malformed(Transaction.by(ALICE).depend(nameless));
    malformed(Claim.of(ALICE, "a", LEASE).withDepends(List.of(nameless)));
    Outcome.Refused refused =
        refused(
            Transaction.by(ALICE)
                .add("", "x")
                .delete(nameless)
                .delete(nameless)
                .delete(TaskRef.id(12_345))
                .depend(TaskRef.id(12_346)));
    assertThat(kinds(refused))
        .containsExactly(
            Kind.MALFORMED,
            Kind.MALFORMED,
            Kind.MALFORMED,
            Kind.MISSING_DELETE,
            Kind.MISSING_DEPEND);
    assertThat(refused.reasons())
        .extracting(Reason::message)
        .startsWith(
            "adds/0: group of a task to add must not be empty",
            "deletes/0: a task to delete needs an id or an origin of at least 1",
            "deletes/1: a task to delete needs an id or an origin of at least 1");
    assertThatThrownBy(() -> TaskRef.id(-1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> TaskRef.origin(0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> store().tasks(List.of(nameless)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void what_is_changed_twice_is_named() {
    Task task = add("a", "");
    TaskRef again = TaskRef.origin(task.origin());
    Outcome.Refused refused =
        refused(
            Transaction.by(ALICE)
                .delete(task.ref())
                .delete(again)
                .put(doc("x"), DocumentVersion.ANY, Bytes.EMPTY)
                .put(doc("x"), DocumentVersion.ANY, Bytes.EMPTY));
    assertThat(refused.reasons())
        .containsExactly(
            Reason.of(Kind.MALFORMED, again, again + " is changed twice"),
            Reason.of(Kind.MALFORMED, doc("x"), "puts/1: " + doc("x") + " is changed twice"));
  }

  @Test
  void a_malformed_part_names_its_task_or_document() {
    Task task = add("a", "");
    Outcome.Refused refused =
        refused(
            Transaction.by(ALICE)
                .update(task.ref(), null, new When.At(Limits.LARGEST_NUMBER + 1))
                .put(doc("x"), DocumentVersion.ANY, Bytes.EMPTY)
                .put(doc("x"), DocumentVersion.ANY, Bytes.EMPTY));
    assertThat(refused.reasons()).extracting(Reason::task).containsExactly(task.ref(), null);
    assertThat(refused.reasons()).extracting(Reason::document).containsExactly(null, doc("x"));
  }

  @Test
  void each_reason_is_listed_once() {
    TaskRef missing = TaskRef.id(12_345);
    Outcome.Refused refused =
        refused(
            Transaction.by(ALICE)
                .delete(missing)
                .delete(missing)
                .delete(missing)
                .depend(missing)
                .depend(missing));
    assertThat(refused.reasons())
        .extracting(Reason::message)
        .containsExactly(
            missing + " to delete is not in the store",
            missing + " is changed twice",
            missing + " to depend on is not in the store");
    assertThat(
            kinds(
                refused(
                    store()
                        .claim(
                            Claim.of(ALICE, "a", LEASE).withDepends(List.of(missing, missing))))))
        .containsExactly(Kind.MISSING_DEPEND);
  }

  @Test
  void a_time_of_zero_is_the_time_of_the_transaction() {
    Outcome.Done done = commit(Transaction.by(ALICE).add(timed(new When.At(0))));
    assertThat(done.tasks().getFirst().availableAtMillis()).isEqualTo(done.timeMillis());
  }

  private void malformed(Transaction.Builder transaction) {
    onlyMalformed(refused(transaction));
  }

  private void malformed(Claim claim) {
    onlyMalformed(refused(store().claim(claim)));
  }

  private static void onlyMalformed(Outcome.Refused refused) {
    assertThat(kinds(refused)).containsOnly(Kind.MALFORMED);
  }

  private static Transaction.Add named(String localName) {
    return new Transaction.Add("a", Bytes.EMPTY, When.now(), false, localName);
  }

  private static Transaction.Add timed(When when) {
    return new Transaction.Add("a", Bytes.EMPTY, when, false, null);
  }
}
