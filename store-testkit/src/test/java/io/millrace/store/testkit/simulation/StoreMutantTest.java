package io.millrace.store.testkit.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.testkit.mutation.Mutant;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;

/**
 * Plants a fault for each promise that {@link StoreSimulation} checks, which must notice it within
 * {@link #SEEDS} runs. CONTRIBUTING.md lists which is for which.
 */
final class StoreMutantTest {
  private static final int SEEDS = 300;

  /** A run of the simulation. */
  static final class StoreRun implements LongConsumer {
    @Override
    public void accept(long seed) {
      StoreSimulation.run(seed);
    }
  }

  /** Fails if most of 20 runs fail. */
  static final class MostRuns implements LongConsumer {
    @Override
    public void accept(long ignored) {
      int failed = 0;
      for (long seed = 1; seed <= 20; seed++) {
        try {
          StoreSimulation.run(seed);
        } catch (SimulationFailure failure) {
          failed++;
        }
      }
      assertThat(failed).as("failed runs of 20").isLessThanOrEqualTo(10);
    }
  }

  @Test
  void a_frame_that_is_never_synced() {
    noticed(journal("ActiveSegment", "sync").withoutCall("sync"), "does not open|was durable|told");
  }

  @Test
  void a_snapshot_that_is_never_synced() {
    noticed(journal("SnapshotFileWriter", "publish").withoutCall("sync"), "does not open|damaged");
  }

  @Test
  void what_a_failed_sync_left_is_not_written_again() {
    noticed(
        journal("Recovery$SegmentReplay", "makeDurable").returningNothing(),
        "does not open|was durable|told");
  }

  @Test
  void a_directory_entry_that_is_never_synced() {
    noticed(
        journal("Storage", "publish").withoutCall("sync"),
        "was durable|does not open|told|was given though");
  }

  @Test
  void a_new_folder_whose_name_is_never_synced() {
    Mutant mutant = Mutant.of("io.millrace.store.environment.Disk", "makeFolders");
    noticed(mutant.withoutCall("sync"), "was durable|does not open|told|was given though");
  }

  @Test
  void a_lock_given_away() {
    noticed(journal("FileJournal", "lock").withCallReturning("lock", 1), "two processes");
  }

  @Test
  void a_lock_kept_after_the_close() {
    noticed(journal("FileJournal", "close").withoutCall("close"), "in use");
  }

  @Test
  void ids_used_again_after_a_restart() {
    noticed(
        kernel("state.State", "restore").withoutAssignment("lastId"),
        "was given though|does not open");
  }

  @Test
  void ids_used_again_by_a_new_history() {
    noticed(kernel("recovery.Replayer", "skipIds").returningNothing(), "was given though");
  }

  @Test
  void ids_used_again_by_a_restored_backup() {
    noticed(kernel("snapshots.Backups", "minId").returning(0L), "was given though");
  }

  @Test
  void a_restored_backup_that_goes_on_in_the_old_history() {
    noticed(kernel("snapshots.Backups", "stream").withConstant(1, 0), "was restored as");
  }

  @Test
  void a_history_that_serves_positions_of_another() {
    noticed(kernel("records.History", "includes").returning(1), "lost position");
  }

  @Test
  void an_answer_that_leaves_before_it_is_durable() {
    Mutant mutant = kernel("CommitPipeline", "reply").withCallReturning("newestSequence", 0L);
    noticed(mutant, "had told|nobody asked");
  }

  @Test
  void store_time_that_goes_back() {
    Mutant mutant = kernel("StoreClock", "<init>").withCallReturning("max", 0L);
    noticed(mutant, "time went back");
  }

  @Test
  void a_forgotten_check_of_the_owner() {
    Mutant mutant =
        kernel("decisions.TransactionDecision", "change").withCallReturning("override", 1);
    noticed(mutant, "OWNED_BY_ANOTHER");
  }

  @Test
  void a_forgotten_check_of_dependencies() {
    noticed(
        kernel("decisions.RefusalReasons", "checkDepends").returningNothing(), "MISSING_DEPEND");
  }

  @Test
  void a_forgotten_check_of_a_version() {
    noticed(
        kernel("decisions.DocumentDecision", "expected").returning(1),
        "VERSION_CONFLICT|does not|stopped");
  }

  @Test
  void a_change_that_forgets_the_origin() {
    Mutant mutant = kernel("decisions.TransactionDecision", "replace").withoutCall("origin");
    noticed(mutant, "should be|does not open|stopped");
  }

  @Test
  void a_claim_that_takes_too_few() {
    noticed(kernel("decisions.ClaimDecision", "decide").withCallReturning("count", 1), "but Takes");
  }

  @Test
  void a_claim_beyond_its_limit() {
    noticed(
        kernel("decisions.ClaimDecision", "take").withoutCall("claimedCount"),
        "but (Nothing|Takes)");
  }

  @Test
  void a_claim_in_the_wrong_order() {
    noticed(
        kernel("decisions.ClaimDecision", "take").withCallReturning("ordinal", 0),
        "was claimed but");
  }

  @Test
  void a_limit_of_a_group_that_is_forgotten() {
    Mutant mutant = kernel("state.GroupLimits", "roomOfGroups").returning(Integer.MAX_VALUE);
    noticed(mutant, "but (Nothing|Takes|Refused)");
  }

  @Test
  void a_limit_of_a_key_that_is_forgotten() {
    Mutant mutant = kernel("state.Lanes$Key", "room").returning(Integer.MAX_VALUE);
    noticed(mutant, "but (Nothing|Takes|Refused)");
  }

  @Test
  void a_shared_limit_that_is_forgotten() {
    Mutant mutant = kernel("state.GroupLimits$SharedLimit", "room").returning(Integer.MAX_VALUE);
    noticed(mutant, "but (Nothing|Takes|Refused)");
  }

  @Test
  void a_claim_that_exceeds_a_limit_by_what_it_has_taken_itself() {
    noticed(kernel("decisions.StartRoom", "take").returningNothing(), "but (Takes|Refused)");
  }

  @Test
  void a_limit_of_a_prefix_that_is_forgotten() {
    Mutant mutant = kernel("state.Throttles", "of").withCallReturning("isEmpty", 1);
    noticed(mutant, "but (Nothing|Takes|Refused)");
  }

  @Test
  void a_key_at_its_limit_that_another_group_of_the_prefix_still_serves() {
    Mutant mutant = kernel("state.Lanes$Key", "refreshAllGroups").withoutCall("forEach");
    noticed(mutant, "but (Nothing|Takes|Refused)|waits though");
  }

  @Test
  void starts_that_a_snapshot_forgets() {
    noticed(
        kernel("state.Throttles", "restore").returningNothing(),
        "but (Nothing|Takes|Refused|opened)");
  }

  @Test
  void a_claim_that_is_not_told_when_tasks_may_start_again() {
    noticed(kernel("state.Throttles", "wake").returningNothing(), "waits though|was served before");
  }

  @Test
  void a_priority_that_is_ignored() {
    Mutant mutant = kernel("state.Lanes", "rank").withCallReturning("priority", 0);
    noticed(mutant, "was claimed but");
  }

  @Test
  void a_repeated_request_that_is_done_again() {
    noticed(
        kernel("decisions.Decider", "recall").returningNothing(), "but Repeated|REQUEST_ID_REUSED");
  }

  @Test
  void a_waiting_claim_that_is_forgotten() {
    noticed(
        kernel("WaitingClaims", "serve").returningNothing(),
        "waits though|longer than|was served before");
  }

  @Test
  void a_commit_that_is_never_streamed() {
    noticed(
        kernel("subscriptions.Broadcast", "publish").withoutAssignment("next"),
        "told but never streamed");
  }

  @Test
  void a_subscriber_that_gets_what_it_did_not_ask_for() {
    noticed(
        kernel("subscriptions.LiveSubscription", "select").withCallReturning("includes", 1),
        "subscriber to");
  }

  @Test
  void a_frame_whose_checksum_nobody_looks_at() {
    Mutant mutant = Mutant.of("io.millrace.store.journal.FrameCodec", "isWhole").returning(1);
    noticed(mutant, "nobody asked|should be|but it was|does not open|stopped|null");
  }

  @Test
  void a_snapshot_whose_checksum_nobody_looks_at() {
    noticed(journal("SnapshotFormat", "partChecksum").returning(0), "but it was|should be|stopped");
  }

  @Test
  void a_frozen_tree_that_changes() {
    noticed(
        kernel("state.CopyGeneration", "next").returningNothing(),
        "does not open|damaged|but it was|stopped");
  }

  @Test
  void a_tree_that_miscounts() {
    noticed(
        kernel("state.TreeBranch", "recount").returningNothing(),
        "but it was|stopped|does not open|null");
  }

  @Test
  void a_memory_budget_that_is_not_kept() {
    noticed(kernel("decisions.TransactionDecision", "checkRoom").returningNothing(), "grew beyond");
  }

  @Test
  void a_transaction_beyond_the_limits() {
    noticed(kernel("decisions.TransactionSize", "fits").returning(1), "TOO_LARGE");
  }

  @Test
  void more_waiting_claims_than_allowed() {
    Mutant mutant =
        kernel("WaitingClaims", "admit").withCallReturning("waitingClaims", Integer.MAX_VALUE);
    noticed(mutant, "claims wait, more than");
  }

  @Test
  void more_subscriptions_than_allowed() {
    Mutant mutant =
        kernel("EmbeddedStore", "subscribe").withCallReturning("subscribers", Integer.MAX_VALUE);
    noticed(mutant, "subscriptions");
  }

  @Test
  void trees_split_in_most_runs() {
    Mutant withoutBranches = kernel("state.TreeBranch", "put").returningNothing();
    assertThat(withoutBranches.firstFailure(1, MostRuns.class).failure())
        .hasMessageContaining("failed runs of 20");
  }

  private static Mutant journal(String type, String method) {
    return Mutant.of("io.millrace.store.journal.files." + type, method);
  }

  private static Mutant kernel(String type, String method) {
    return Mutant.of("io.millrace.store.kernel." + type, method);
  }

  /** The simulation fails, and its message matches {@code why}. */
  private static void noticed(Mutant mutant, String why) {
    Mutant.Failure failure = mutant.firstFailure(SEEDS, StoreRun.class);
    assertThat(failure.failure())
        .isInstanceOfSatisfying(
            AssertionError.class, error -> assertThat(error.getMessage()).containsPattern(why));
  }
}
