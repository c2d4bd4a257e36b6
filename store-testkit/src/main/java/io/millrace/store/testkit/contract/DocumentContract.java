package io.millrace.store.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.Task;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Versioned documents in transactions. */
abstract class DocumentContract extends StoreTopic {
  @Test
  void a_document_is_written_where_it_is_absent_and_read_back() {
    Document written = put("x", DocumentVersion.ABSENT, "body");
    assertThat(written.key()).isEqualTo(doc("x"));
    assertThat(written.version()).isPositive();
    assertThat(written.body()).isEqualTo(Bytes.of("body"));
    assertThat(store().document(doc("x")).value()).contains(written);
    conflict(Transaction.by(BOB).put(doc("x"), DocumentVersion.ABSENT, Bytes.of("other")));
    assertThat(store().document(doc("x")).value()).contains(written);
  }

  @Test
  void a_document_is_written_only_at_the_version_it_has() {
    Document first = put("x", DocumentVersion.ABSENT, "1");
    Document second = put("x", first.version(), "2");
    assertThat(second.version()).isGreaterThan(first.version());
    conflict(Transaction.by(ALICE).put(doc("x"), first.version(), Bytes.of("3")));
    conflict(Transaction.by(ALICE).put(doc("unknown"), first.version(), Bytes.of("3")));
    assertThat(store().document(doc("x")).value()).contains(second);
  }

  @Test
  void without_an_expectation_it_is_written_whether_it_is_there_or_not() {
    Document first = put("x", DocumentVersion.ANY, "1");
    Document second = put("x", DocumentVersion.ANY, "2");
    assertThat(second.version()).isGreaterThan(first.version());
    assertThat(store().document(doc("x")).value()).contains(second);
  }

  @Test
  void a_document_is_deleted_at_its_version() {
    Document first = put("x", DocumentVersion.ABSENT, "1");
    conflict(Transaction.by(ALICE).delete(doc("x"), first.version() + 1));
    commit(Transaction.by(ALICE).delete(doc("x"), first.version()));
    assertThat(store().document(doc("x")).value()).isEqualTo(Optional.empty());
    conflict(Transaction.by(ALICE).delete(doc("x"), first.version()));
    conflict(Transaction.by(ALICE).delete(doc("x"), DocumentVersion.ANY));
    put("x", DocumentVersion.ABSENT, "2");
    commit(Transaction.by(ALICE).delete(doc("x"), DocumentVersion.ANY));
    assertThat(store().document(doc("x")).value()).isEqualTo(Optional.empty());
  }

  @Test
  void versions_are_never_used_again_not_even_after_a_delete() {
    Document first = put("x", DocumentVersion.ABSENT, "1");
    commit(Transaction.by(ALICE).delete(doc("x"), first.version()));
    Document second = put("x", DocumentVersion.ABSENT, "1");
    assertThat(second.version()).isGreaterThan(first.version());
  }

  @Test
  void versions_and_task_ids_are_drawn_from_one_counter() {
    Task task = add("a", "");
    Document document = put("x", DocumentVersion.ABSENT, "");
    assertThat(document.version()).isGreaterThan(task.id());
    assertThat(add("a", "").id()).isGreaterThan(document.version());
  }

  @Test
  void a_transaction_may_depend_on_the_version_of_a_document() {
    Document there = put("x", DocumentVersion.ABSENT, "1");
    commit(Transaction.by(BOB).depend(doc("x"), there.version()).add("a", "1"));
    commit(Transaction.by(BOB).depend(doc("x"), DocumentVersion.ANY).add("a", "2"));
    commit(Transaction.by(BOB).depend(doc("y"), DocumentVersion.ABSENT).add("a", "3"));
    conflict(Transaction.by(BOB).depend(doc("x"), there.version() + 1).add("a", "4"));
    conflict(Transaction.by(BOB).depend(doc("x"), DocumentVersion.ABSENT).add("a", "5"));
    conflict(Transaction.by(BOB).depend(doc("y"), DocumentVersion.ANY).add("a", "6"));
    assertThat(texts(tasksOf("a"))).containsExactly("1", "2", "3");
    assertThat(store().document(doc("x")).value()).contains(there);
  }

  @Test
  void every_conflict_is_named() {
    put("x", DocumentVersion.ABSENT, "1");
    Outcome.Refused refused =
        refused(
            Transaction.by(ALICE)
                .put(doc("x"), DocumentVersion.ABSENT, Bytes.of("2"))
                .put(doc("y"), 7, Bytes.of("2"))
                .delete(doc("z"), 8));
    assertThat(kinds(refused)).containsOnly(Kind.VERSION_CONFLICT);
    assertThat(refused.reasons())
        .extracting(reason -> reason.document())
        .containsExactlyInAnyOrder(doc("x"), doc("y"), doc("z"));
  }

  @Test
  void the_answer_lists_the_documents_in_the_order_asked() {
    Outcome.Done done =
        commit(
            Transaction.by(ALICE)
                .put(doc("b"), DocumentVersion.ANY, Bytes.of("1"))
                .put(doc("a"), DocumentVersion.ANY, Bytes.of("2")));
    assertThat(done.documents()).extracting(Document::key).containsExactly(doc("b"), doc("a"));
  }

  @Test
  void documents_and_tasks_change_together_or_not_at_all() {
    add("a", "");
    Task held = claim(ALICE, "a");
    conflict(Transaction.by(ALICE).delete(held.ref()).put(doc("result"), 5, Bytes.of("done")));
    assertThat(isThere(held.ref())).isTrue();
    commit(
        Transaction.by(ALICE)
            .delete(held.ref())
            .put(doc("result"), DocumentVersion.ABSENT, Bytes.of("done")));
    assertThat(isThere(held.ref())).isFalse();
    assertThat(store().document(doc("result")).value()).isPresent();
  }

  @Test
  void documents_are_listed_by_prefix_in_order_of_their_keys() {
    for (String key : List.of("b/2", "a/1", "b/10", "b/1", "c", "b")) {
      put(key, DocumentVersion.ABSENT, key);
    }
    put(new DocumentKey("other", "b/3"));
    assertThat(keys(DocumentQuery.prefix("things", "b/"))).containsExactly("b/1", "b/10", "b/2");
    assertThat(keys(DocumentQuery.prefix("things", "")))
        .containsExactly("a/1", "b", "b/1", "b/10", "b/2", "c");
    assertThat(keys(DocumentQuery.prefix("things", "zzz"))).isEmpty();
    assertThat(keys(DocumentQuery.prefix("unknown", ""))).isEmpty();
  }

  @Test
  void a_listing_goes_on_after_a_key_and_stops_at_its_limit() {
    for (String key : List.of("p1", "p2", "p3", "p4", "q1")) {
      put(key, DocumentVersion.ABSENT, "");
    }
    assertThat(keys(new DocumentQuery("things", "p", "", 2))).containsExactly("p1", "p2");
    assertThat(keys(new DocumentQuery("things", "p", "p2", 1))).containsExactly("p3");
    assertThat(keys(new DocumentQuery("things", "p", "p2", 0))).containsExactly("p3", "p4");
    assertThat(keys(new DocumentQuery("things", "p", "a", 0)))
        .containsExactly("p1", "p2", "p3", "p4");
    assertThat(keys(new DocumentQuery("things", "", "p2x", 0))).containsExactly("p3", "p4", "q1");
    assertThat(keys(new DocumentQuery("things", "p", "q", 0))).isEmpty();
  }

  @Test
  void a_listing_may_begin_with_the_greatest_key() {
    for (String key : List.of("p1", "p2", "p3", "p4", "q1", "a")) {
      put(key, DocumentVersion.ABSENT, "");
    }
    put(new DocumentKey("other", "p5"));
    put(new DocumentKey("zz", "p6"));
    assertThat(keys(descending("p", "", 0))).containsExactly("p4", "p3", "p2", "p1");
    assertThat(keys(descending("", "", 2))).containsExactly("q1", "p4");
    assertThat(keys(descending("p", "p3", 1))).containsExactly("p2");
    assertThat(keys(descending("p", "p3", 0))).containsExactly("p2", "p1");
    assertThat(keys(descending("p", "z", 0))).containsExactly("p4", "p3", "p2", "p1");
    assertThat(keys(descending("", "p2x", 0))).containsExactly("p2", "p1", "a");
    assertThat(keys(descending("p", "p1", 0))).isEmpty();
    assertThat(keys(descending("p", "a", 0))).isEmpty();
    assertThat(keys(descending("x", "", 0))).isEmpty();
  }

  private static DocumentQuery descending(String prefix, String after, int limit) {
    return new DocumentQuery("things", prefix, after, limit, DocumentQuery.Order.DESCENDING);
  }

  @Test
  void keys_are_ordered_by_utf_16_code_units() {
    // The last two differ in order between UTF-16 code units and code points.
    List<String> ordered = List.of("A", "a", "é", "漢", "😀", "\uFFFD");
    for (String key : ordered.reversed()) {
      put(key, DocumentVersion.ABSENT, "");
    }
    assertThat(keys(DocumentQuery.prefix("things", ""))).isEqualTo(ordered);
  }

  private Document put(String key, long expectedVersion, String body) {
    return commit(Transaction.by(ALICE).put(doc(key), expectedVersion, Bytes.of(body)))
        .documents()
        .getFirst();
  }

  private void put(DocumentKey key) {
    commit(Transaction.by(ALICE).put(key, DocumentVersion.ANY, Bytes.EMPTY));
  }

  private List<String> keys(DocumentQuery query) {
    return store().documents(query).value().stream().map(d -> d.key().key()).toList();
  }

  private void conflict(Transaction.Builder transaction) {
    assertThat(kinds(refused(transaction))).containsExactly(Kind.VERSION_CONFLICT);
  }
}
