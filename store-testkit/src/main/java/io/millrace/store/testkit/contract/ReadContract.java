package io.millrace.store.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Bytes;
import io.millrace.store.Outcome;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupQuery.Selection;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.TaskStore.Read;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.When;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Reads of tasks and groups. */
abstract class ReadContract extends StoreTopic {
  @Test
  void tasks_come_in_the_order_asked_with_a_gap_for_each_that_is_not_there() {
    Task one = add("a", "1");
    Task two = add("b", "2");
    List<Optional<Task>> read =
        store().tasks(List.of(two.ref(), TaskRef.id(1L << 40), one.ref(), two.ref())).value();
    assertThat(read)
        .containsExactly(Optional.of(two), Optional.empty(), Optional.of(one), Optional.of(two));
  }

  @Test
  void reading_no_tasks_gives_none() {
    assertThat(store().tasks(List.of()).value()).isEmpty();
  }

  @Test
  void an_empty_store_has_no_groups_and_a_position() {
    Read<List<GroupSummary>> groups = store().groups();
    assertThat(groups.value()).isEmpty();
    assertThat(groups.position().number()).isNotNegative();
    assertThat(store().group(GroupQuery.all("unknown")).value()).isEmpty();
    assertThat(store().document(doc("unknown")).value()).isEmpty();
  }

  @Test
  void a_group_lists_what_waits_by_available_time_then_origin() {
    long now = now();
    Task one = add("a", "one", past(now, 5), false);
    add("a", "two", past(now, 5), false);
    add("a", "three", past(now, 9), false);
    add("a", "four", past(now, 1), false);
    add("a", "delayed", When.after(LEASE), false);
    add("other", "other");
    commit(Transaction.by(ALICE).update(one.ref(), null, past(now, 5)));
    assertThat(texts(store().group(GroupQuery.waiting("a")).value()))
        .containsExactly("three", "one", "two", "four");
  }

  @Test
  void with_owned_the_delayed_and_claimed_ones_follow_in_the_same_order() {
    add("a", "claimed");
    claim(ALICE, "a", Duration.ofSeconds(30));
    add("a", "delayed late", When.after(Duration.ofSeconds(50)), false);
    add("a", "delayed early", When.after(Duration.ofSeconds(10)), false);
    add("a", "waiting");
    assertThat(texts(tasksOf("a")))
        .containsExactly("waiting", "delayed early", "claimed", "delayed late");
    assertThat(texts(store().group(GroupQuery.waiting("a")).value())).containsExactly("waiting");
  }

  @Test
  void the_delayed_ones_can_be_listed_alone() {
    add("a", "claimed");
    claim(ALICE, "a", Duration.ofSeconds(5));
    add("a", "owned by an add", When.after(Duration.ofSeconds(5)), true);
    add("a", "delayed late", When.after(Duration.ofSeconds(50)), false);
    add("a", "delayed early", When.after(Duration.ofSeconds(10)), false);
    add("a", "waiting");
    assertThat(texts(store().group(GroupQuery.delayed("a")).value()))
        .containsExactly("delayed early", "delayed late");
    assertThat(texts(store().group(GroupQuery.delayed("a").withLimit(1)).value()))
        .containsExactly("delayed early");
    assertThat(store().group(GroupQuery.delayed("b")).value()).isEmpty();
  }

  @Test
  void a_listing_stops_at_its_limit() {
    for (int i = 0; i < 5; i++) {
      add("a", "t" + i);
    }
    claim(ALICE, "a");
    assertThat(texts(store().group(GroupQuery.waiting("a").withLimit(2)).value()))
        .containsExactly("t1", "t2");
    assertThat(texts(store().group(GroupQuery.all("a").withLimit(5)).value()))
        .containsExactly("t1", "t2", "t3", "t4", "t0");
    assertThat(store().group(GroupQuery.waiting("a")).value()).hasSize(4);
    assertThat(store().group(GroupQuery.all("a").withLimit(100)).value()).hasSize(5);
  }

  @Test
  void a_group_is_listed_page_by_page() {
    long now = now();
    for (int i = 0; i < 5; i++) {
      add("a", "waiting " + i, past(now, i % 2), false);
      add("a", "delayed " + i, When.after(LEASE.plusSeconds(i % 2)), false);
      add("a", "owned " + i, When.after(LEASE.plusSeconds(i % 2)), true);
    }
    for (int i = 0; i < 3; i++) {
      addKeyed("a", "key " + i);
    }
    for (Selection selection : Selection.values()) {
      GroupQuery query = new GroupQuery("a", 0, selection);
      List<Task> all = store().group(query).value();
      for (int limit = 1; limit <= all.size() + 1; limit++) {
        assertThat(pages(query.withLimit(limit))).as("%s by %s", selection, limit).isEqualTo(all);
      }
    }
  }

  private void addKeyed(String group, String data) {
    commit(
        Transaction.by(ALICE)
            .add(
                new Transaction.Add(
                    group, Bytes.of(data), When.now(), false, null, new Task.Lane("anna", 3))));
  }

  private List<Task> pages(GroupQuery query) {
    List<Task> found = new ArrayList<>();
    List<Task> page = store().group(query).value();
    while (!page.isEmpty()) {
      assertThat(page).hasSizeLessThanOrEqualTo(query.limit());
      found.addAll(page);
      page = store().group(query.after(page.getLast())).value();
    }
    return found;
  }

  @Test
  void a_list_goes_on_after_a_task_that_is_gone_or_has_got_another_place() {
    for (int i = 0; i < 4; i++) {
      add("a", "t" + i);
    }
    List<Task> page = store().group(GroupQuery.waiting("a").withLimit(2)).value();
    commit(Transaction.by(ALICE).delete(page.getLast().ref()));
    assertThat(texts(store().group(GroupQuery.all("a").after(page.getLast())).value()))
        .containsExactly("t2", "t3");
    claim(ALICE, "a");
    assertThat(texts(store().group(GroupQuery.waiting("a").after(page.getFirst())).value()))
        .containsExactly("t2", "t3");
    assertThat(texts(store().group(GroupQuery.all("a").after(page.getFirst())).value()))
        .containsExactly("t2", "t3", "t0");
  }

  @Test
  void a_list_of_delayed_tasks_goes_on_when_their_time_has_come() {
    for (int i = 1; i <= 4; i++) {
      add("a", "t" + i, When.after(Duration.ofSeconds(5L * i)), false);
    }
    List<Task> page = store().group(GroupQuery.all("a").withLimit(1)).value();
    advance(Duration.ofSeconds(12));
    assertThat(texts(store().group(GroupQuery.all("a").after(page.getFirst())).value()))
        .containsExactly("t2", "t3", "t4");
    assertThat(texts(store().group(GroupQuery.delayed("a").after(page.getFirst())).value()))
        .containsExactly("t3", "t4");
  }

  @Test
  void groups_are_listed_by_name_with_their_counts() {
    add("b", "waiting");
    add("b", "waiting too");
    add("b", "to be claimed", past(now(), 1000), false);
    add("b", "delayed", When.after(LEASE), false);
    add("b", "owned by an add", When.after(LEASE), true);
    claim(ALICE, "b");
    add("a", "x");
    add("B", "x");
    assertThat(store().groups().value())
        .containsExactly(
            new GroupSummary("B", 1, 0, 0, 0),
            new GroupSummary("a", 1, 0, 0, 0),
            new GroupSummary("b", 2, 1, 2, 1));
  }

  @Test
  void counts_follow_the_time() {
    add("a", "delayed", When.after(Duration.ofSeconds(5)), false);
    add("a", "abandoned");
    claim(ALICE, "a", Duration.ofSeconds(10));
    assertThat(store().groups().value()).containsExactly(new GroupSummary("a", 0, 1, 1, 1));
    advance(Duration.ofSeconds(5));
    assertThat(store().groups().value()).containsExactly(new GroupSummary("a", 1, 0, 1, 1));
    advance(Duration.ofSeconds(5));
    assertThat(store().groups().value()).containsExactly(new GroupSummary("a", 2, 0, 0, 0));
    assertThat(store().group(GroupQuery.waiting("a")).value()).hasSize(2);
  }

  @Test
  void a_group_is_there_as_long_as_it_has_a_task() {
    add("a", "");
    Task held = claim(ALICE, "a");
    assertThat(store().groups().value()).extracting(GroupSummary::name).containsExactly("a");
    commit(Transaction.by(ALICE).delete(held.ref()));
    assertThat(store().groups().value()).isEmpty();
  }

  @Test
  void a_read_says_at_which_position_and_time_it_was_true() {
    Outcome.Done done = commit(Transaction.by(ALICE).add("a", "1"));
    Read<List<Task>> read = store().group(GroupQuery.all("a"));
    assertThat(read.position()).isEqualTo(done.position());
    assertThat(read.timeMillis()).isGreaterThanOrEqualTo(done.timeMillis());
    Outcome.Done next = commit(Transaction.by(ALICE).add("a", "2"));
    assertThat(store().tasks(List.of()).position()).isEqualTo(next.position());
  }

  @Test
  void every_client_reads_what_any_client_was_told() {
    for (int i = 0; i < 20; i++) {
      Task task = add("a", "t" + i);
      assertThat(store().task(task.ref()).value()).contains(task);
    }
  }

  @Test
  void everything_is_there_after_a_restart() {
    add("a", "waiting");
    add("a", "delayed", When.after(LEASE), false);
    add("b", "claimed");
    claim(ALICE, "b");
    commit(Transaction.by(ALICE).put(doc("x"), 0, Bytes.of("body")));
    List<Task> tasks = tasksOf("a");
    List<GroupSummary> groups = store().groups().value();
    Read<?> before = store().document(doc("x"));
    restart();
    assertThat(tasksOf("a")).isEqualTo(tasks);
    assertThat(store().groups().value()).isEqualTo(groups);
    Read<?> after = store().document(doc("x"));
    assertThat(after.value()).isEqualTo(before.value());
    assertThat(after.position()).isEqualTo(before.position());
    assertThat(after.timeMillis()).isGreaterThanOrEqualTo(before.timeMillis());
    assertThat(add("a", "new").id()).isGreaterThan(tasks.getLast().id());
  }

  private static When past(long now, long seconds) {
    return When.at(Instant.ofEpochMilli(now - seconds * 1000));
  }
}
