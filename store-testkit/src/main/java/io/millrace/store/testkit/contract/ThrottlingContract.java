package io.millrace.store.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Claim.Order;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason.Kind;
import io.millrace.store.Task;
import io.millrace.store.Task.Lane;
import io.millrace.store.Throttling;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.When;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Turns of keys, priorities, and limits under which tasks are claimed. */
abstract class ThrottlingContract extends StoreTopic {
  private Task add(String group, String data, String key, int priority) {
    return commit(
            Transaction.by(ALICE)
                .add(
                    new Transaction.Add(
                        group, Bytes.of(data), When.now(), false, null, Lane.of(key, priority))))
        .tasks()
        .getFirst();
  }

  private void limit(DocumentKey key, String... lines) {
    Bytes body = Bytes.of(String.join("\n", lines));
    commit(Transaction.by(ALICE).put(key, DocumentVersion.ANY, body));
  }

  private void limit(String group, String... lines) {
    limit(Throttling.ofGroup(group), lines);
  }

  private List<String> claim(String group, int count) {
    return texts(claimed(Claim.of(BOB, group, LEASE).withCount(count).withOrder(Order.OLDEST)));
  }

  /** Claims tasks one by one until none is available. */
  private List<String> claimAll(String group) {
    List<String> claimed = new ArrayList<>();
    for (List<String> next = claim(group, 1); !next.isEmpty(); next = claim(group, 1)) {
      claimed.addAll(next);
    }
    return claimed;
  }

  private void delete(String data) {
    Task task =
        tasksOf("g").stream().filter(it -> it.data().utf8().equals(data)).findFirst().orElseThrow();
    commit(Transaction.by(BOB).delete(task.ref()));
  }

  @Test
  void a_task_keeps_its_key_and_priority() {
    Task added = add("g", "x", "ann", 4);
    assertThat(added.key()).isEqualTo("ann");
    assertThat(added.priority()).isEqualTo(4);
    Task held = claimed(Claim.of(BOB, "g", LEASE)).getFirst();
    assertThat(held.lane()).isEqualTo(added.lane());
    commit(Transaction.by(BOB).update(held.ref(), Bytes.of("y"), When.now()));
    assertThat(tasksOf("g").getFirst().lane()).isEqualTo(added.lane());
    restart();
    assertThat(tasksOf("g").getFirst().lane()).isEqualTo(added.lane());
  }

  @Test
  void keys_take_turns_and_each_is_served_in_order() {
    for (int i = 1; i <= 3; i++) {
      add("g", "a" + i, "ann", 0);
    }
    add("g", "plain1", "", 0);
    add("g", "b1", "bob", 0);
    add("g", "plain2", "", 0);
    add("g", "b2", "bob", 0);
    assertThat(claimAll("g")).containsExactly("a1", "plain1", "b1", "a2", "plain2", "b2", "a3");
  }

  @Test
  void a_claim_of_several_tasks_takes_them_in_turns() {
    for (int i = 1; i <= 4; i++) {
      add("g", "a" + i, "ann", 0);
    }
    add("g", "b1", "bob", 0);
    add("g", "b2", "bob", 0);
    assertThat(claim("g", 5)).containsExactly("a1", "b1", "a2", "b2", "a3");
    assertThat(claim("g", 5)).containsExactly("a4");
  }

  @Test
  void a_key_takes_as_many_as_its_weight_when_its_turn_comes() {
    limit("g", "weight 2 ann");
    for (int i = 1; i <= 4; i++) {
      add("g", "a" + i, "ann", 0);
      add("g", "b" + i, "bob", 0);
    }
    assertThat(claimAll("g")).containsExactly("a1", "a2", "b1", "a3", "a4", "b2", "b3", "b4");
  }

  @Test
  void a_higher_priority_is_served_first_whatever_the_order_of_the_claim() {
    for (Order order : Order.values()) {
      add("g", "low", "", 0);
      add("g", "high", "", 9);
      add("g", "middle", "", 5);
      List<Task> claimed = claimed(Claim.of(BOB, "g", LEASE).withCount(3).withOrder(order));
      assertThat(texts(claimed)).as(order.name()).containsExactly("high", "middle", "low");
      claimed.forEach(task -> commit(Transaction.by(BOB).delete(task.ref())));
    }
  }

  @Test
  void a_task_that_has_waited_for_long_overtakes_one_of_a_higher_priority() {
    limit("g", "ageing 1000");
    add("g", "old", "", 0);
    advance(Duration.ofMillis(2_001));
    add("g", "two levels higher", "", 2);
    add("g", "three levels higher", "", 3);
    assertThat(claim("g", 3)).containsExactly("three levels higher", "old", "two levels higher");
  }

  @Test
  void a_group_has_no_more_claimed_than_its_limit() {
    limit("g", "running 2");
    for (int i = 1; i <= 4; i++) {
      add("g", "t" + i, "", 0);
    }
    assertThat(claim("g", 9)).containsExactly("t1", "t2");
    assertThat(claim("g", 9)).isEmpty();
    delete("t1");
    assertThat(claim("g", 9)).containsExactly("t3");
    limit("g", "running 3");
    assertThat(claim("g", 9)).containsExactly("t4");
  }

  @Test
  void a_key_at_its_limit_gives_way_to_the_others() {
    limit("g", "key-running 1");
    add("g", "a1", "ann", 0);
    add("g", "a2", "ann", 0);
    add("g", "b1", "bob", 0);
    add("g", "free1", "", 0);
    add("g", "free2", "", 0);
    assertThat(claim("g", 9)).containsExactly("a1", "b1", "free1", "free2");
    assertThat(claim("g", 9)).isEmpty();
    delete("a1");
    assertThat(claim("g", 9)).containsExactly("a2");
    delete("b1");
    add("g", "b2", "bob", 0);
    assertThat(claim("g", 9)).containsExactly("b2");
  }

  @Test
  void groups_share_a_limit() {
    limit(Throttling.shared("gpu"), "running 2");
    limit("g", "shared gpu");
    limit("h", "shared gpu");
    add("g", "g1", "", 0);
    add("g", "g2", "", 0);
    add("h", "h1", "", 0);
    add("other", "o1", "", 0);
    assertThat(claim("g", 1)).containsExactly("g1");
    List<Task> both = claimed(Claim.of(BOB, "g", LEASE).withGroups(List.of("h", "g")).withCount(5));
    assertThat(texts(both)).containsExactly("h1");
    CompletableFuture<Outcome> waiting =
        submit(Claim.of(ALICE, "g", LEASE).withWait(Duration.ofSeconds(30)));
    assertThat(waiting).isNotDone();
    assertThat(claim("other", 1)).containsExactly("o1");
    commit(Transaction.by(BOB).delete(both.getFirst().ref()));
    assertThat(texts(answer(waiting).done().tasks())).containsExactly("g2");
  }

  @Test
  void a_group_that_leaves_a_shared_limit_makes_room_in_it() {
    limit(Throttling.shared("gpu"), "running 1");
    limit("g", "shared gpu");
    limit("h", "shared gpu");
    add("g", "g1", "", 0);
    add("h", "h1", "", 0);
    assertThat(claim("g", 1)).containsExactly("g1");
    assertThat(claim("h", 1)).isEmpty();
    CompletableFuture<Outcome> waiting =
        submit(Claim.of(ALICE, "h", LEASE).withWait(Duration.ofSeconds(30)));
    commit(Transaction.by(ALICE).delete(Throttling.ofGroup("g"), DocumentVersion.ANY));
    assertThat(texts(answer(waiting).done().tasks())).containsExactly("h1");
  }

  @Test
  void starts_become_possible_again_evenly_over_the_period() {
    limit("g", "starts 2 10000");
    for (int i = 1; i <= 5; i++) {
      add("g", "t" + i, "", 0);
    }
    assertThat(claim("g", 9)).containsExactly("t1", "t2");
    advance(Duration.ofMillis(4_900));
    assertThat(claim("g", 9)).isEmpty();
    advance(Duration.ofMillis(100));
    assertThat(claim("g", 9)).containsExactly("t3");
    advance(Duration.ofSeconds(60));
    assertThat(claim("g", 2)).hasSize(2);
  }

  @Test
  void starts_of_a_key_are_limited_through_a_restart() {
    limit("g", "key-starts 1 60000");
    add("g", "a1", "ann", 0);
    add("g", "a2", "ann", 0);
    add("g", "b1", "bob", 0);
    assertThat(claim("g", 9)).containsExactly("a1", "b1");
    delete("a1");
    assertThat(claim("g", 9)).isEmpty();
    restart();
    assertThat(claim("g", 9)).isEmpty();
    CompletableFuture<Outcome> waiting =
        submit(Claim.of(ALICE, "g", LEASE).withWait(Duration.ofMinutes(2)));
    advance(Duration.ofSeconds(59));
    assertThat(waiting).isNotDone();
    advance(Duration.ofSeconds(1));
    assertThat(answer(waiting).done().tasks()).hasSize(1);
  }

  @Test
  void a_waiting_claim_is_served_when_starts_are_possible_again() {
    limit(Throttling.shared("api"), "starts 1 5000");
    limit("g", "shared api");
    add("g", "t1", "", 0);
    add("g", "t2", "", 0);
    assertThat(claim("g", 1)).containsExactly("t1");
    CompletableFuture<Outcome> waiting =
        submit(Claim.of(ALICE, "g", LEASE).withWait(Duration.ofSeconds(30)));
    advance(Duration.ofMillis(4_900));
    assertThat(waiting).isNotDone();
    advance(Duration.ofMillis(100));
    assertThat(texts(answer(waiting).done().tasks())).containsExactly("t2");
  }

  @Test
  void a_waiting_claim_is_served_when_a_limit_is_raised() {
    limit("g", "running 1");
    add("g", "t1", "", 0);
    add("g", "t2", "", 0);
    assertThat(claim("g", 1)).containsExactly("t1");
    CompletableFuture<Outcome> waiting =
        submit(Claim.of(ALICE, "g", LEASE).withWait(Duration.ofSeconds(30)));
    assertThat(waiting).isNotDone();
    limit("g", "running 2");
    assertThat(texts(answer(waiting).done().tasks())).containsExactly("t2");
  }

  @Test
  void groups_with_a_prefix_have_limits_together() {
    limit(Throttling.ofPrefix("print/a/"), "running 2");
    add("print/a/now", "n1", "", 0);
    add("print/a/later", "l1", "", 0);
    Task third = add("print/a/later", "l2", "", 0);
    add("print/b", "b1", "", 0);
    assertThat(claim("print/a/later", 1)).containsExactly("l1");
    List<Task> now = claimed(Claim.of(BOB, "print/a/now", LEASE).withCount(9));
    assertThat(texts(now)).containsExactly("n1");
    assertThat(claim("print/a/later", 9)).isEmpty();
    assertThat(claim("print/b", 9)).containsExactly("b1");
    Outcome.Refused refused = refused(Transaction.by(ALICE).take(third.ref(), LEASE));
    assertThat(refused.reasons().getFirst().message())
        .contains("the limit of groups print/a/* is reached");
    CompletableFuture<Outcome> waiting =
        submit(Claim.of(ALICE, "print/a/later", LEASE).withWait(Duration.ofSeconds(30)));
    assertThat(waiting).isNotDone();
    commit(Transaction.by(BOB).delete(now.getFirst().ref()));
    assertThat(texts(answer(waiting).done().tasks())).containsExactly("l2");
  }

  @Test
  void a_key_has_its_limit_in_all_groups_with_a_prefix() {
    limit(Throttling.ofPrefix("print/a/"), "key-running 1");
    add("print/a/now", "ann now", "ann", 0);
    add("print/a/now", "bob now", "bob", 0);
    add("print/a/later", "ann later", "ann", 0);
    add("print/a/later", "cy later", "cy", 0);
    List<Task> claimed =
        claimed(
            Claim.of(BOB, "print/a/now", LEASE)
                .withGroups(List.of("print/a/now", "print/a/later"))
                .withCount(9));
    assertThat(texts(claimed)).containsExactly("ann now", "bob now", "cy later");
    CompletableFuture<Outcome> waiting =
        submit(Claim.of(ALICE, "print/a/later", LEASE).withWait(Duration.ofSeconds(30)));
    assertThat(waiting).isNotDone();
    restart();
    assertThat(claim("print/a/later", 9)).isEmpty();
    commit(Transaction.by(BOB).delete(claimed.getFirst().ref()));
    assertThat(claim("print/a/later", 9)).containsExactly("ann later");
  }

  @Test
  void starts_of_a_key_are_limited_in_all_groups_with_a_prefix() {
    limit(Throttling.ofPrefix("print/a/"), "key-starts 1 60000", "starts 3 60000");
    for (int i = 1; i <= 3; i++) {
      add("print/a/now", "now " + i, "ann", 0);
      add("print/a/later", "later " + i, "ann", 0);
    }
    assertThat(claim("print/a/now", 9)).containsExactly("now 1");
    assertThat(claim("print/a/later", 9)).isEmpty();
    restart();
    assertThat(claim("print/a/later", 9)).isEmpty();
    CompletableFuture<Outcome> waiting =
        submit(Claim.of(ALICE, "print/a/later", LEASE).withWait(Duration.ofMinutes(2)));
    advance(Duration.ofSeconds(59));
    assertThat(waiting).isNotDone();
    advance(Duration.ofSeconds(1));
    assertThat(texts(answer(waiting).done().tasks())).containsExactly("later 1");
  }

  @Test
  void the_limits_of_a_group_or_of_a_longer_prefix_take_precedence() {
    limit(Throttling.ofPrefix("print/"), "running 1");
    limit(Throttling.ofPrefix("print/a/"), "running 2");
    limit("print/a/free", "key-running 5");
    for (String group : List.of("print/b", "print/a/x", "print/a/free")) {
      for (int i = 1; i <= 3; i++) {
        add(group, group + i, "", 0);
      }
    }
    assertThat(claim("print/b", 9)).hasSize(1);
    assertThat(claim("print/a/x", 9)).hasSize(2);
    assertThat(claim("print/a/free", 9)).hasSize(3);
    commit(Transaction.by(ALICE).delete(Throttling.ofPrefix("print/a/"), DocumentVersion.ANY));
    assertThat(claim("print/a/x", 9)).isEmpty();
    commit(Transaction.by(ALICE).delete(Throttling.ofPrefix("print/"), DocumentVersion.ANY));
    assertThat(claim("print/a/x", 9)).hasSize(1);
    assertThat(claim("print/b", 9)).hasSize(2);
  }

  @Test
  void a_prefix_shares_limits_with_groups() {
    limit(Throttling.shared("gpu"), "running 2");
    limit(Throttling.ofPrefix("print/a/"), "shared gpu");
    limit("g", "shared gpu");
    add("print/a/now", "n1", "", 0);
    add("print/a/later", "l1", "", 0);
    add("g", "g1", "", 0);
    assertThat(claim("print/a/later", 1)).containsExactly("l1");
    assertThat(claim("g", 1)).containsExactly("g1");
    assertThat(claim("print/a/now", 1)).isEmpty();
    delete("g1");
    assertThat(claim("print/a/now", 1)).containsExactly("n1");
  }

  @Test
  void a_key_with_many_tasks_is_served_in_order() {
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      add("g", "t" + i, "ann", 0);
      expected.add("t" + i);
    }
    add("g", "first", "ann", 9);
    for (int i = 60; i < 70; i++) {
      delete("t" + i);
      expected.remove("t" + i);
    }
    expected.addFirst("first");
    assertThat(claimAll("g")).containsExactlyElementsOf(expected);
  }

  @Test
  void a_task_is_not_taken_beyond_a_limit() {
    limit(Throttling.shared("gpu"), "running 3");
    limit("g", "running 2", "key-running 1", "shared gpu");
    limit("h", "shared gpu");
    Task ann = add("g", "a1", "ann", 0);
    Task more = add("g", "a2", "ann", 0);
    Outcome.Refused both =
        refused(Transaction.by(ALICE).take(ann.ref(), LEASE).take(more.ref(), LEASE));
    assertThat(kinds(both)).containsExactly(Kind.LIMIT_REACHED);
    assertThat(both.reasons().getFirst().task()).isEqualTo(more.ref());
    assertThat(both.reasons().getFirst().message()).contains("key ann", "group g");
    commit(Transaction.by(ALICE).take(ann.ref(), LEASE));
    Task bob = add("g", "b1", "bob", 0);
    commit(Transaction.by(ALICE).take(bob.ref(), LEASE));
    Outcome.Refused third =
        refused(Transaction.by(ALICE).take(add("g", "c1", "cy", 0).ref(), LEASE));
    assertThat(third.reasons().getFirst().message()).contains("limit of group g");
    commit(Transaction.by(ALICE).take(add("h", "h1", "", 0).ref(), LEASE));
    Outcome.Refused fourth =
        refused(Transaction.by(ALICE).take(add("h", "h2", "", 0).ref(), LEASE));
    assertThat(fourth.reasons().getFirst().message()).contains("shared limit gpu");
  }

  @Test
  void a_lease_that_ends_makes_room() {
    limit("g", "key-running 1");
    add("g", "a1", "ann", 0);
    add("g", "a2", "ann", 0);
    assertThat(claim("g", 9)).containsExactly("a1");
    advance(LEASE);
    assertThat(claim("g", 9)).containsExactly("a2");
  }

  @Test
  void limits_can_be_removed() {
    limit("g", "running 1");
    add("g", "t1", "", 0);
    add("g", "t2", "", 0);
    assertThat(claim("g", 9)).containsExactly("t1");
    commit(Transaction.by(ALICE).delete(Throttling.ofGroup("g"), DocumentVersion.ANY));
    assertThat(claim("g", 9)).containsExactly("t2");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "running",
        "running x",
        "running -1",
        "running 99999999999",
        "starts 5",
        "starts 5 0",
        "starts 5000 1",
        "starts -1 5",
        "ageing -1",
        "weight 0 ann",
        "weight 1001 ann",
        "weight 3",
        "shared",
        "shared a\nshared a",
        "key-running x",
        "runing 3",
        "{\"running\": 3}"
      })
  void limits_that_cannot_be_read_are_refused(String body) {
    Outcome.Refused refused =
        refused(Transaction.by(ALICE).put(Throttling.ofGroup("g"), 0, Bytes.of(body)));
    assertThat(kinds(refused)).containsExactly(Kind.MALFORMED);
    assertThat(refused.reasons().getFirst().document()).isEqualTo(Throttling.ofGroup("g"));
    assertThat(refused.reasons().getFirst().message()).contains("limits in document");
  }

  @Test
  void a_shared_limit_has_only_the_numbers_of_tasks() {
    for (String line : List.of("key-running 1", "ageing 5", "weight 2 ann", "shared other")) {
      Outcome.Refused refused =
          refused(Transaction.by(ALICE).put(Throttling.shared("gpu"), 0, Bytes.of(line)));
      assertThat(kinds(refused)).as(line).containsExactly(Kind.MALFORMED);
    }
  }

  @Test
  void limits_are_written_as_they_are_read() {
    String text =
        """
        running 10
        starts 100 60000
        key-running 1
        key-starts 5 1000
        ageing 5000
        weight 3 a key with spaces
        shared gpu
        shared the other
        """;
    DocumentKey key = Throttling.ofGroup("g");
    assertThat(Throttling.read(key, Bytes.of(text)).body().utf8()).isEqualTo(text);
    assertThat(Throttling.read(key, Bytes.EMPTY)).isEqualTo(Throttling.NONE);
  }
}
