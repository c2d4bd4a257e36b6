package io.millrace.store.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.Outcome;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.StoreClosedException;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.When;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The stream of commits. */
abstract class SubscriptionContract extends StoreTopic {
  private static final Duration SOON = Duration.ofSeconds(30);

  @Test
  void a_subscriber_sees_every_commit_from_now_on_once_and_in_order() {
    add("a", "before");
    Position now = store().groups().position();
    try (Subscription commits = store().subscribe(Interest.everything())) {
      assertThat(commits.start()).isEqualTo(now);
      for (int i = 0; i < 10; i++) {
        Outcome.Done done = commit(Transaction.by(BOB).add("a", "t" + i));
        Commit commit = next(commits);
        assertThat(commit.position()).isEqualTo(done.position());
        assertThat(commit.timeMillis()).isEqualTo(done.timeMillis());
        assertThat(commit.client()).isEqualTo(BOB);
        assertThat(commit.override()).isFalse();
        assertThat(commit.changes()).containsExactly(new Change.Added(done.tasks().getFirst()));
      }
    }
  }

  @Test
  void a_subscriber_sees_every_commit_after_the_position_it_names() {
    Position start = commit(Transaction.by(ALICE).add("a", "0")).position();
    Position second = commit(Transaction.by(ALICE).add("a", "1")).position();
    Position third = commit(Transaction.by(ALICE).add("a", "2")).position();
    try (Subscription commits = store().subscribe(Interest.everything().after(start))) {
      assertThat(commits.start()).isEqualTo(start);
      assertThat(next(commits).position()).isEqualTo(second);
      assertThat(next(commits).position()).isEqualTo(third);
      Position fourth = commit(Transaction.by(ALICE).add("a", "3")).position();
      assertThat(next(commits).position()).isEqualTo(fourth);
    }
  }

  @Test
  void a_subscriber_may_begin_at_the_very_first_commit() {
    Position origin = store().groups().position();
    Position first = commit(Transaction.by(ALICE).add("a", "0")).position();
    try (Subscription commits = store().subscribe(Interest.everything().after(origin))) {
      assertThat(next(commits).position()).isEqualTo(first);
    }
  }

  @Test
  void every_sort_of_change_is_told_with_all_it_was() {
    Task task = add("a", "1");
    Position start = store().groups().position();
    Task held = claim(ALICE, "a");
    Outcome.Done second =
        commit(
            Transaction.by(ALICE)
                .update(held.ref(), Bytes.of("2"), When.now())
                .put(doc("x"), DocumentVersion.ABSENT, Bytes.of("1")));
    Outcome.Done third =
        commit(
            Transaction.by(ALICE)
                .delete(second.tasks().getFirst().ref())
                .put(doc("x"), DocumentVersion.ANY, Bytes.of("2")));
    commit(Transaction.by(ALICE).delete(doc("x"), DocumentVersion.ANY));
    try (Subscription commits = store().subscribe(Interest.everything().after(start))) {
      assertThat(next(commits).changes()).containsExactly(kept(task.id(), held));
      assertThat(next(commits).changes())
          .containsExactlyInAnyOrder(
              new Change.Changed(held.id(), second.tasks().getFirst(), false),
              new Change.DocumentPut(0, second.documents().getFirst()));
      assertThat(next(commits).changes())
          .containsExactlyInAnyOrder(
              new Change.Deleted(second.tasks().getFirst().id(), task.origin(), "a"),
              new Change.DocumentPut(
                  second.documents().getFirst().version(), third.documents().getFirst()));
      assertThat(next(commits).changes())
          .containsExactly(
              new Change.DocumentDeleted(doc("x"), third.documents().getFirst().version()));
    }
  }

  @Test
  void a_filter_by_group_passes_changes_of_these_groups_only_deletes_included() {
    Task mine = add("mine", "");
    Interest interest = new Interest(null, Set.of("mine", "also mine"), Set.of());
    try (Subscription commits = store().subscribe(interest)) {
      commit(Transaction.by(ALICE).add("other", ""));
      Outcome.Done mixed = commit(Transaction.by(ALICE).add("other", "").add("also mine", ""));
      commit(Transaction.by(ALICE).put(doc("x"), 0, Bytes.EMPTY));
      commit(Transaction.by(ALICE).delete(mine.ref()));
      Commit first = next(commits);
      assertThat(first.position()).isEqualTo(mixed.position());
      assertThat(first.changes()).containsExactly(new Change.Added(mixed.tasks().get(1)));
      assertThat(next(commits).changes())
          .containsExactly(new Change.Deleted(mine.id(), mine.origin(), "mine"));
    }
  }

  @Test
  void a_filter_by_collection_passes_changes_of_these_documents_only() {
    Interest interest = new Interest(null, Set.of(), Set.of("things"));
    try (Subscription commits = store().subscribe(interest)) {
      add("things", "a group of the same name is not meant");
      Outcome.Done put = commit(Transaction.by(ALICE).add("a", "").put(doc("x"), 0, Bytes.EMPTY));
      assertThat(next(commits).changes())
          .containsExactly(new Change.DocumentPut(0, put.documents().getFirst()));
    }
  }

  @Test
  void a_filter_works_on_what_lies_behind_as_well() {
    Position start = store().groups().position();
    add("other", "");
    Task mine = add("mine", "");
    add("other", "");
    Interest interest = new Interest(start, Set.of("mine"), Set.of());
    try (Subscription commits = store().subscribe(interest)) {
      assertThat(next(commits).changes()).containsExactly(new Change.Added(mine));
      Task later = add("mine", "");
      assertThat(next(commits).changes()).containsExactly(new Change.Added(later));
    }
  }

  @Test
  void refusals_and_empty_claims_are_no_commits() {
    try (Subscription commits = store().subscribe(Interest.everything())) {
      refused(Transaction.by(ALICE).delete(TaskRef.id(1L << 40)));
      claimed(Claim.of(ALICE, "empty", LEASE));
      Position marker = commit(Transaction.by(ALICE).add("a", "")).position();
      assertThat(next(commits).position()).isEqualTo(marker);
    }
  }

  @Test
  void several_subscribers_see_the_same() {
    try (Subscription one = store().subscribe(Interest.everything());
        Subscription two = store().subscribe(Interest.everything())) {
      add("a", "1");
      add("a", "2");
      for (int i = 0; i < 2; i++) {
        assertThat(next(one)).isEqualTo(next(two));
      }
    }
  }

  @Test
  void nothing_comes_while_nothing_happens() throws InterruptedException {
    try (Subscription commits = store().subscribe(Interest.everything())) {
      assertThat(commits.next(Duration.ofMillis(1))).isNull();
    }
  }

  @Test
  void a_position_of_another_history_is_refused() {
    add("a", "");
    Position here = store().groups().position();
    Position elsewhere = new Position(here.history() + 1, 0);
    assertLost(PositionLostException.Why.OTHER_HISTORY, elsewhere);
  }

  @Test
  void a_position_that_is_still_to_come_is_refused() {
    add("a", "");
    Position here = store().groups().position();
    assertLost(
        PositionLostException.Why.OTHER_HISTORY,
        new Position(here.history(), here.number() + 1000));
  }

  @Test
  void a_position_is_good_after_a_restart() {
    Position start = commit(Transaction.by(ALICE).add("a", "0")).position();
    Position second = commit(Transaction.by(ALICE).add("a", "1")).position();
    restart();
    Position third = commit(Transaction.by(ALICE).add("a", "2")).position();
    try (Subscription commits = store().subscribe(Interest.everything().after(start))) {
      assertThat(next(commits).position()).isEqualTo(second);
      assertThat(next(commits).position()).isEqualTo(third);
    }
  }

  @Test
  void a_closed_subscription_says_so() {
    Subscription commits = store().subscribe(Interest.everything());
    commits.close();
    commits.close();
    add("a", "");
    assertThatThrownBy(() -> commits.next(SOON)).isInstanceOf(StoreClosedException.class);
  }

  @Test
  void a_position_can_be_written_down() {
    Position position = commit(Transaction.by(ALICE).add("a", "0")).position();
    assertThat(Position.parse(position.toString())).isEqualTo(position);
    assertThatThrownBy(() -> Position.parse("nonsense"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void many_commits_arrive_whole_and_in_order() {
    Position start = store().groups().position();
    for (int i = 0; i < 100; i++) {
      add("a", "t" + i);
    }
    try (Subscription commits = store().subscribe(Interest.everything().after(start))) {
      List<Long> numbers =
          Stream.generate(() -> next(commits).position().number()).limit(100).toList();
      assertThat(numbers).isSorted().doesNotHaveDuplicates();
      assertThat(numbers.getFirst()).isEqualTo(start.number() + 1);
      assertThat(numbers.getLast()).isEqualTo(start.number() + 100);
    }
  }

  /** A change that keeps the data. The stream leaves such data out. */
  private static Change kept(long oldId, Task task) {
    return new Change.Changed(oldId, task.withData(Bytes.EMPTY), true);
  }

  private void assertLost(PositionLostException.Why why, Position position) {
    assertThatThrownBy(() -> store().subscribe(Interest.everything().after(position)).close())
        .isInstanceOfSatisfying(
            PositionLostException.class,
            e -> {
              assertThat(e.why()).isEqualTo(why);
              assertThat(e.position()).isEqualTo(position);
            });
  }

  private static Commit next(Subscription commits) {
    try {
      @Nullable Commit commit = commits.next(SOON);
      if (commit == null) {
        throw new AssertionError("no commit came");
      }
      return commit;
    } catch (InterruptedException e) {
      throw new AssertionError("interrupted", e);
    }
  }
}
