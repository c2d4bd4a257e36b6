package io.millrace.journal.shared;

import io.millrace.store.testkit.mutation.Mutant;
import io.millrace.store.testkit.mutation.PlantedBug;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LoadInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Plants a bug for each rule that keeps two servers from leading at once, which the simulation must
 * find with the right message. CONTRIBUTING.md lists them.
 */
final class SharedStoreMutantTest {
  private static final String HERE = "io.millrace.journal.shared.";
  private static final String KERNEL = "io.millrace.store.kernel.";
  private static final int SEEDS = 300;

  /** A run of the simulation with a bucket. */
  static final class BucketSimulation implements LongConsumer {
    @Override
    public void accept(long seed) {
      SharedStoreSimulation.run(seed, SimulatedBucket::new);
    }
  }

  /** A run of the simulation with a database. */
  static final class Simulation implements LongConsumer {
    @Override
    public void accept(long seed) {
      SharedStoreSimulation.run(seed, SimulatedDatabase::new);
    }
  }

  @ParameterizedTest
  @MethodSource("bugs")
  void a_planted_bug_is_found(PlantedBug bug) {
    bug.mustBeFound(SEEDS, Simulation.class);
  }

  @ParameterizedTest
  @MethodSource("bugsOfBuckets")
  void a_bug_planted_in_a_bucket_is_found(PlantedBug bug) {
    bug.mustBeFound(SEEDS, BucketSimulation.class);
  }

  static Stream<PlantedBug> bugsOfBuckets() {
    return Stream.of(
        new PlantedBug(
            "the boundary is not read again after an entry was created",
            Mutant.of(HERE + "BucketLog", "create").withCallReturning("entry", 0L),
            "was acknowledged and is lost"),
        new PlantedBug(
            "a renewal does not read the log",
            Mutant.of(HERE + "BucketHome", "leads").returning(1),
            "came after"),
        new PlantedBug(
            "an entry counts although there was one",
            Mutant.of(HERE + "BucketLog", "create").withCallReturning("create", 1),
            "was acknowledged and is lost"));
  }

  private static void beginAgain(CodeBuilder code, CodeElement element) {
    code.with(element);
    if (element instanceof InvokeInstruction call && call.name().equalsString("follow")) {
      code.aload(0)
          .invokevirtual(
              ClassDesc.of(KERNEL + "Replica"), "begin", MethodTypeDesc.ofDescriptor("()V"));
    }
  }

  private static void ignoreWall(CodeBuilder code, CodeElement element) {
    if (element instanceof InvokeInstruction call && call.name().equalsString("wallMillis")) {
      code.invokeinterface(call.owner().asSymbol(), "nanos", call.typeSymbol())
          .loadConstant(1_000_000L)
          .ldiv();
    } else {
      code.with(element);
    }
  }

  private static void dropPosition(CodeBuilder code, CodeElement element) {
    if (element instanceof LoadInstruction load && load.slot() == 2) {
      code.aconst_null();
    } else {
      code.with(element);
    }
  }

  static Stream<PlantedBug> bugs() {
    return Stream.of(
        new PlantedBug(
            "an append does not compare the head",
            Mutant.of(HERE + "SimulatedDatabase$Connection", "isEnd").returning(1),
            "does not continue"),
        new PlantedBug(
            "anyone renews the lease",
            Mutant.of(HERE + "SimulatedDatabase$Connection", "leads").returning(1),
            "came after"),
        new PlantedBug(
            "reads need no lease",
            Mutant.of(HERE + "SharedLeader", "holdsLease").returning(1),
            "came after"),
        new PlantedBug(
            "a lease lasts longer than standbys wait",
            Mutant.of(HERE + "SharedLeader", "extendLease")
                .withCallReturning("toNanos", 6_000_000_000L),
            "came after"),
        new PlantedBug(
            "a standby does not wait",
            Mutant.of(KERNEL + "Standby$Following", "isVacant").returning(1),
            "came after"),
        new PlantedBug(
            "two standbys find the same leader gone, and both begin",
            Mutant.of(HERE + "SharedJournal", "lead").withCallReturning("isSilentSince", 1),
            "came after"),
        new PlantedBug(
            "an append whose answer was lost counts as that of another",
            Mutant.of(HERE + "SharedLeader", "judge").withCallReturning("equals", 0),
            "refused and done"),
        new PlantedBug(
            "a follower forgets what it has read before a failure",
            Mutant.of(KERNEL + "Replica$1", "frame").withoutAssignment("delivered"),
            "follows commit"),
        new PlantedBug(
            "a standby counts the age of what it has read from the end of the read",
            Mutant.of(KERNEL + "Replica", "follow").with(SharedStoreMutantTest::beginAgain),
            "stale read"),
        new PlantedBug(
            "a standby takes no notice of a suspended machine",
            Mutant.of(KERNEL + "Replica$Moment", "now").with(SharedStoreMutantTest::ignoreWall),
            "stale read"),
        new PlantedBug(
            "a standby answers whatever its age",
            Mutant.of(KERNEL + "Replica", "read").withCallReturning("ageNanos", 0L),
            "stale read"),
        new PlantedBug(
            "a standby does not look whether it has the position",
            Mutant.of(KERNEL + "Standby", "reads").with(SharedStoreMutantTest::dropPosition),
            "came after one at"),
        new PlantedBug(
            "snapshots are removed that the head names",
            Mutant.of(HERE + "SharedJournal$Leading", "trim").withCallReturning("equals", 0),
            "cut short"));
  }
}
