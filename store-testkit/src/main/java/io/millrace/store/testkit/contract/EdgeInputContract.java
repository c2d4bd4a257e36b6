package io.millrace.store.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.DocumentKey;
import io.millrace.store.StoreClosedException;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.When;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Boundary values of inputs. */
abstract class EdgeInputContract extends StoreTopic {
  private static final List<String> NAMES =
      List.of(
          "a/b/c",
          "..",
          ".",
          "?x=1&y=2#z",
          "%2F",
          "with space",
          " ",
          "\t\n",
          "\u0000",
          "\"'\\",
          "漢字",
          "😀",
          "e\u0301",
          "\u202Eright to left",
          "{\"json\": [1]}",
          "+",
          ",",
          "null");

  @Test
  void group_names_are_any_unicode_text() {
    for (String name : NAMES) {
      add(name, name);
      assertThat(texts(store().group(GroupQuery.waiting(name)).value())).containsExactly(name);
      assertThat(claim(ALICE, name).group()).isEqualTo(name);
    }
    assertThat(store().groups().value())
        .extracting(GroupSummary::name)
        .isEqualTo(NAMES.stream().sorted().toList());
  }

  @Test
  void document_names_are_any_unicode_text() {
    for (String name : NAMES) {
      DocumentKey key = new DocumentKey(name, name);
      commit(Transaction.by(ALICE).put(key, 0, Bytes.of(name)));
      assertThat(store().document(key).value().orElseThrow().body().utf8()).isEqualTo(name);
      assertThat(store().documents(DocumentQuery.prefix(name, name)).value()).hasSize(1);
    }
  }

  @Test
  void names_that_look_alike_are_not_the_same() {
    add("\u00E9", "composed");
    add("e\u0301", "decomposed");
    assertThat(store().groups().value()).hasSize(2);
  }

  @Test
  void data_is_any_bytes() {
    byte[] every = new byte[256];
    for (int i = 0; i < every.length; i++) {
      every[i] = (byte) i;
    }
    Bytes data = Bytes.copyOf(every);
    Task task = commit(Transaction.by(ALICE).add("a", data)).tasks().getFirst();
    assertThat(store().task(task.ref()).value().orElseThrow().data()).isEqualTo(data);
    commit(Transaction.by(ALICE).put(doc("x"), 0, data));
    assertThat(store().document(doc("x")).value().orElseThrow().body()).isEqualTo(data);
  }

  @Test
  void data_may_be_empty_and_may_become_empty() {
    Task task = add("a", "");
    assertThat(task.data()).isEqualTo(Bytes.EMPTY);
    Task full =
        commit(Transaction.by(ALICE).update(task.ref(), Bytes.of("x"), When.now()))
            .tasks()
            .getFirst();
    Task empty =
        commit(Transaction.by(ALICE).update(full.ref(), Bytes.EMPTY, When.now()))
            .tasks()
            .getFirst();
    assertThat(empty.data()).isEqualTo(Bytes.EMPTY);
  }

  @Test
  void ids_that_were_never_given_are_missing_not_wrong() {
    add("a", "");
    for (long id : List.of(1L << 52, (1L << 53) - 1, 1L << 53, Long.MAX_VALUE)) {
      assertThat(isThere(TaskRef.id(id))).isFalse();
      assertThat(isThere(TaskRef.origin(id))).isFalse();
    }
  }

  @Test
  void a_wait_or_lease_of_no_length_is_allowed() {
    add("a", "");
    Claim claim = Claim.of(ALICE, "a", Duration.ZERO).withWait(Duration.ZERO);
    assertThat(claimed(claim)).hasSize(1);
  }

  @Test
  void a_delay_of_no_length_is_at_once() {
    add("a", "", When.after(Duration.ZERO), true);
    assertThat(claimed(Claim.of(BOB, "a", LEASE))).hasSize(1);
  }

  @Test
  void a_dependency_named_twice_does_no_harm() {
    Task task = add("a", "");
    commit(Transaction.by(ALICE).depend(task.ref()).depend(task.ref()).add("b", ""));
    assertThat(tasksOf("b")).hasSize(1);
  }

  @Test
  void closing_twice_does_nothing_and_a_closed_store_says_so() {
    store().close();
    store().close();
    assertThatThrownBy(() -> store().groups()).isInstanceOf(StoreClosedException.class);
    assertThatThrownBy(() -> store().commit(Transaction.by(ALICE).add("a", "").build()))
        .isInstanceOf(StoreClosedException.class);
  }
}
