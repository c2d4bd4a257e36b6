package io.millrace.cluster.remote.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cluster.lock.Locks;
import io.millrace.cluster.membership.DeathMarks;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.remote.outcome.Outcome;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The life of submissions, step by step. */
final class DispatcherTest {
  private static final long NEVER = Long.MAX_VALUE;
  private static final Outcome DONE = new Outcome.Done("c2VhbGVk");
  private static final String TOLD_DONE = "Finished[outcome=Done[sealed=c2VhbGVk]]";

  private final DispatcherFixture fixture;

  DispatcherTest(@TempDir Path folder) {
    fixture = new DispatcherFixture(folder);
  }

  @BeforeEach
  void begin() {
    fixture.join("a", 2);
    fixture.round();
    fixture.events.clear();
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  private void assertGone(PartitionName name) {
    assertThat(fixture.isThere(name.key())).isFalse();
    assertThat(fixture.isThere(Outcome.key(name))).isFalse();
  }

  @Test
  void the_outcome_of_a_lambda_is_reported_once_and_removed() {
    PartitionName name = fixture.submit(1, "a", NEVER);
    fixture.round();
    Locks.HeldLock held = fixture.take(name, "a");
    fixture.round();
    fixture.finish(name, held, DONE);
    fixture.round();
    fixture.round();
    assertThat(fixture.events).containsExactly("1 begun", "1 " + TOLD_DONE);
    assertGone(name);
  }

  @Test
  void an_outcome_with_the_fence_of_another_holder_is_ignored() {
    PartitionName name = fixture.submit(1, "a", NEVER);
    fixture.round();
    Locks.HeldLock held = fixture.take(name, "a");
    DONE.write(fixture.documents, name, held.fence() + 1);
    assertThat(fixture.locks("a").finish(held)).isTrue();
    fixture.round();
    assertThat(fixture.events.getLast()).contains("its outcome is lost");
  }

  @Test
  void a_submission_that_is_not_begun_within_three_leases_is_removed() {
    PartitionName name = fixture.submit(1, "a", NEVER);
    fixture.round();
    fixture.rounds(3 * DispatcherFixture.LEASE - 2500);
    assertThat(fixture.events).isEmpty();
    fixture.rounds(2500);
    assertThat(fixture.events)
        .containsExactly("1 TimedOut[why=its member a did not start it within three leases]");
    assertGone(name);
  }

  @Test
  void a_submission_whose_partition_was_released_is_removed_at_once() {
    PartitionName name = fixture.submit(1, "a", NEVER);
    fixture.round();
    Locks.HeldLock held = fixture.take(name, "a");
    assertThat(fixture.locks("a").release(held)).isTrue();
    fixture.round();
    assertThat(fixture.events)
        .containsExactly("1 begun", "1 TimedOut[why=its member a released or lost it]");
    assertGone(name);
  }

  @Test
  void a_submission_whose_partition_is_not_renewed_is_removed_after_lease_and_margin() {
    PartitionName name = fixture.submit(1, "a", NEVER);
    fixture.round();
    fixture.take(name, "a");
    fixture.round();
    fixture.rounds(DispatcherFixture.LEASE);
    assertThat(fixture.events).containsExactly("1 begun");
    fixture.rounds(2500);
    assertThat(fixture.events.getLast()).contains("released or lost it");
    assertGone(name);
  }

  @Test
  void the_submissions_of_a_member_that_is_gone_are_removed() {
    PartitionName name = fixture.submit(1, "a", NEVER);
    fixture.round();
    fixture.disappear("a");
    fixture.rounds(2 * DispatcherFixture.LEASE + 7500);
    assertThat(fixture.events).containsExactly("1 TimedOut[why=its member a is gone]");
    assertGone(name);
  }

  @Test
  void a_time_limit_that_passes_while_the_lambda_finishes_has_no_effect() {
    PartitionName name = fixture.submit(1, "a", fixture.clock.monotonicMillis() + 1000);
    fixture.round();
    Locks.HeldLock held = fixture.take(name, "a");
    fixture.clock.advance(1000);
    fixture.documents.beforeDeletion(() -> fixture.finish(name, held, DONE));
    fixture.round();
    assertThat(fixture.events).containsExactly("1 begun", "1 " + TOLD_DONE);
    assertGone(name);
  }

  @Test
  void a_renewal_does_not_keep_a_submission_past_its_time_limit() {
    PartitionName name = fixture.submit(1, "a", fixture.clock.monotonicMillis() + 1000);
    fixture.round();
    Locks.HeldLock held = fixture.take(name, "a");
    fixture.clock.advance(1000);
    fixture.documents.beforeDeletion(() -> assertThat(fixture.locks("a").renew(held)).isPresent());
    fixture.round();
    assertThat(fixture.events)
        .containsExactly("1 begun", "1 TimedOut[why=its time limit has passed]");
    assertGone(name);
    assertThat(fixture.locks("a").finish(held)).isFalse();
  }

  @Test
  void a_cancelled_submission_is_removed_unless_it_is_done() {
    PartitionName name = fixture.submit(1, "a", NEVER);
    PartitionName done = fixture.submit(2, "a", NEVER);
    fixture.round();
    fixture.finish(done, fixture.take(done, "a"), DONE);
    fixture.execute(dispatcher -> dispatcher.cancel(name));
    fixture.execute(dispatcher -> dispatcher.cancel(done));
    fixture.round();
    assertThat(fixture.events).containsExactly("1 Cancelled[]", "2 begun", "2 " + TOLD_DONE);
    assertGone(name);
    assertGone(done);
  }

  @Test
  void a_deletion_whose_answer_is_lost_is_reported_in_the_next_round() {
    PartitionName name = fixture.submit(1, "a", NEVER);
    fixture.round();
    fixture.documents.loseAnswersOf(name.key());
    fixture.execute(dispatcher -> dispatcher.cancel(name));
    fixture.round();
    assertThat(fixture.events).isEmpty();
    fixture.documents.loseAnswersOf("-");
    fixture.round();
    assertThat(fixture.events).containsExactly("1 Cancelled[]");
  }

  @Test
  void
      the_submissions_of_a_member_marked_as_dead_are_removed_at_once_and_its_mark_when_it_is_gone() {
    PartitionName name = fixture.submit(1, "a", NEVER);
    fixture.round();
    fixture.take(name, "a");
    DeathMarks.mark(fixture.documents, "a", 1);
    fixture.execute(dispatcher -> dispatcher.marked("a"));
    fixture.round();
    assertThat(fixture.events.getLast())
        .isEqualTo("1 TimedOut[why=its member a is marked as dead]");
    assertThat(fixture.view.members().nodes()).isEmpty();
    fixture.round();
    assertThat(MemberList.read(fixture.documents).nodes()).isEmpty();
    fixture.rounds(4 * DispatcherFixture.LEASE);
    assertThat(fixture.isThere("dead/a")).isTrue();
    fixture.disappear("a");
    fixture.rounds(8 * DispatcherFixture.LEASE);
    assertThat(fixture.isThere("dead/a")).isFalse();
  }

  @Test
  void lambdas_of_an_earlier_leader_keep_their_members_busy_and_their_outcomes_are_not_reported() {
    PartitionName held = fixture.submit(1, "a", NEVER);
    PartitionName waits = fixture.submit(2, "a", NEVER);
    PartitionName done = fixture.submit(3, "a", NEVER);
    fixture.round();
    Locks.HeldLock mine = fixture.take(held, "a");
    fixture.finish(done, fixture.take(done, "a"), DONE);
    fixture.nextLeader();
    fixture.events.clear();
    fixture.round();
    assertThat(fixture.events).containsExactly("end", "begin 2");
    assertGone(waits);
    assertGone(done);
    assertThat(fixture.view.busy()).isEqualTo(Map.of("a", 1));
    assertThat(fixture.view.left()).isEqualTo(Set.of(1L));
    fixture.finish(held, mine, DONE);
    fixture.rounds(DispatcherFixture.LEASE / 2);
    assertThat(fixture.view.busy()).isEmpty();
    assertThat(fixture.view.isOver(1)).isTrue();
    assertGone(held);
    assertThat(fixture.events).hasSize(2);
  }

  @Test
  void an_outcome_without_a_partition_is_removed_after_lease_and_margin() {
    PartitionName name = new PartitionName(1, 77);
    DONE.write(fixture.documents, name, 5);
    fixture.rounds(DispatcherFixture.LEASE);
    assertThat(fixture.isThere(Outcome.key(name))).isTrue();
    fixture.rounds(3 * DispatcherFixture.LEASE);
    assertGone(name);
  }
}
