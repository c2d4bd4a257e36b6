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

/** What becomes of submissions, step by step. */
final class DispatcherTest {
  private static final long NEVER = Long.MAX_VALUE;
  private static final Outcome DONE = new Outcome.Done("c2VhbGVk");
  private static final String TOLD_DONE = "Finished[outcome=Done[sealed=c2VhbGVk]]";

  private final Workbench bench;

  DispatcherTest(@TempDir Path folder) {
    bench = new Workbench(folder);
  }

  @BeforeEach
  void begin() {
    bench.join("a", 2);
    bench.turn();
    bench.told.clear();
  }

  @AfterEach
  void close() {
    bench.close();
  }

  private void assertGone(PartitionName name) {
    assertThat(bench.isThere(name.key())).isFalse();
    assertThat(bench.isThere(Outcome.key(name))).isFalse();
  }

  @Test
  void what_a_member_has_done_is_told_once_and_removed() {
    PartitionName name = bench.submit(1, "a", NEVER);
    bench.turn();
    Locks.HeldLock held = bench.take(name, "a");
    bench.turn();
    bench.finish(name, held, DONE);
    bench.turn();
    bench.turn();
    assertThat(bench.told).containsExactly("1 begun", "1 " + TOLD_DONE);
    assertGone(name);
  }

  @Test
  void an_outcome_of_another_holder_is_not_believed() {
    PartitionName name = bench.submit(1, "a", NEVER);
    bench.turn();
    Locks.HeldLock held = bench.take(name, "a");
    DONE.write(bench.documents, name, held.fence() + 1);
    assertThat(bench.locks("a").finish(held)).isTrue();
    bench.turn();
    assertThat(bench.told.getLast()).contains("its outcome is lost");
  }

  @Test
  void what_is_not_begun_within_three_leases_is_removed() {
    PartitionName name = bench.submit(1, "a", NEVER);
    bench.turn();
    bench.turns(3 * Workbench.LEASE - 2500);
    assertThat(bench.told).isEmpty();
    bench.turns(2500);
    assertThat(bench.told)
        .containsExactly("1 TimedOut[why=its member a did not begin within three leases]");
    assertGone(name);
  }

  @Test
  void what_a_member_gave_back_is_removed_at_once() {
    PartitionName name = bench.submit(1, "a", NEVER);
    bench.turn();
    Locks.HeldLock held = bench.take(name, "a");
    assertThat(bench.locks("a").release(held)).isTrue();
    bench.turn();
    assertThat(bench.told)
        .containsExactly("1 begun", "1 TimedOut[why=its member a gave it up, or lost it]");
    assertGone(name);
  }

  @Test
  void what_a_member_does_not_renew_is_removed_after_lease_and_margin() {
    PartitionName name = bench.submit(1, "a", NEVER);
    bench.turn();
    bench.take(name, "a");
    bench.turn();
    bench.turns(Workbench.LEASE);
    assertThat(bench.told).containsExactly("1 begun");
    bench.turns(2500);
    assertThat(bench.told.getLast()).contains("gave it up, or lost it");
    assertGone(name);
  }

  @Test
  void the_work_of_a_member_that_is_gone_is_removed() {
    PartitionName name = bench.submit(1, "a", NEVER);
    bench.turn();
    bench.vanish("a");
    bench.turns(2 * Workbench.LEASE + 7500);
    assertThat(bench.told).containsExactly("1 TimedOut[why=its member a is gone]");
    assertGone(name);
  }

  @Test
  void a_limit_that_passes_while_the_member_ends_its_work_comes_too_late() {
    PartitionName name = bench.submit(1, "a", bench.clock.monotonicMillis() + 1000);
    bench.turn();
    Locks.HeldLock held = bench.take(name, "a");
    bench.clock.advance(1000);
    bench.documents.beforeDeletion(() -> bench.finish(name, held, DONE));
    bench.turn();
    assertThat(bench.told).containsExactly("1 begun", "1 " + TOLD_DONE);
    assertGone(name);
  }

  @Test
  void a_renewal_in_between_does_not_save_what_is_over_its_time() {
    PartitionName name = bench.submit(1, "a", bench.clock.monotonicMillis() + 1000);
    bench.turn();
    Locks.HeldLock held = bench.take(name, "a");
    bench.clock.advance(1000);
    bench.documents.beforeDeletion(() -> assertThat(bench.locks("a").renew(held)).isPresent());
    bench.turn();
    assertThat(bench.told).containsExactly("1 begun", "1 TimedOut[why=its time is over]");
    assertGone(name);
    assertThat(bench.locks("a").finish(held)).isFalse();
  }

  @Test
  void what_is_cancelled_is_removed_unless_it_is_done() {
    PartitionName name = bench.submit(1, "a", NEVER);
    PartitionName done = bench.submit(2, "a", NEVER);
    bench.turn();
    bench.finish(done, bench.take(done, "a"), DONE);
    bench.order(dispatcher -> dispatcher.cancel(name));
    bench.order(dispatcher -> dispatcher.cancel(done));
    bench.turn();
    assertThat(bench.told).containsExactly("1 Cancelled[]", "2 begun", "2 " + TOLD_DONE);
    assertGone(name);
    assertGone(done);
  }

  @Test
  void a_deletion_whose_answer_is_lost_is_told_of_in_the_next_turn() {
    PartitionName name = bench.submit(1, "a", NEVER);
    bench.turn();
    bench.documents.loseAnswersOf(name.key());
    bench.order(dispatcher -> dispatcher.cancel(name));
    bench.turn();
    assertThat(bench.told).isEmpty();
    bench.documents.loseAnswersOf("-");
    bench.turn();
    assertThat(bench.told).containsExactly("1 Cancelled[]");
  }

  @Test
  void the_work_of_one_marked_as_dead_is_removed_at_once_and_the_mark_when_it_is_gone() {
    PartitionName name = bench.submit(1, "a", NEVER);
    bench.turn();
    bench.take(name, "a");
    DeathMarks.mark(bench.documents, "a", 1);
    bench.order(dispatcher -> dispatcher.marked("a"));
    bench.turn();
    assertThat(bench.told.getLast()).isEqualTo("1 TimedOut[why=its member a is marked as dead]");
    assertThat(bench.view.members().nodes()).isEmpty();
    bench.turn();
    assertThat(MemberList.read(bench.documents).nodes()).isEmpty();
    bench.turns(4 * Workbench.LEASE);
    assertThat(bench.isThere("dead/a")).isTrue();
    bench.vanish("a");
    bench.turns(8 * Workbench.LEASE);
    assertThat(bench.isThere("dead/a")).isFalse();
  }

  @Test
  void what_a_leader_before_has_submitted_keeps_its_member_busy_and_nobody_is_told_of_it() {
    PartitionName held = bench.submit(1, "a", NEVER);
    PartitionName waits = bench.submit(2, "a", NEVER);
    PartitionName done = bench.submit(3, "a", NEVER);
    bench.turn();
    Locks.HeldLock mine = bench.take(held, "a");
    bench.finish(done, bench.take(done, "a"), DONE);
    bench.nextLeader();
    bench.told.clear();
    bench.turn();
    assertThat(bench.told).containsExactly("end", "begin 2");
    assertGone(waits);
    assertGone(done);
    assertThat(bench.view.busy()).isEqualTo(Map.of("a", 1));
    assertThat(bench.view.left()).isEqualTo(Set.of(1L));
    bench.finish(held, mine, DONE);
    bench.turns(Workbench.LEASE / 2);
    assertThat(bench.view.busy()).isEmpty();
    assertThat(bench.view.isOver(1)).isTrue();
    assertGone(held);
    assertThat(bench.told).hasSize(2);
  }

  @Test
  void an_outcome_without_a_partition_is_removed_after_a_while() {
    PartitionName name = new PartitionName(1, 77);
    DONE.write(bench.documents, name, 5);
    bench.turns(Workbench.LEASE);
    assertThat(bench.isThere(Outcome.key(name))).isTrue();
    bench.turns(3 * Workbench.LEASE);
    assertGone(name);
  }
}
