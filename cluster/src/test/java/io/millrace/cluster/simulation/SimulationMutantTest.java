package io.millrace.cluster.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.store.testkit.mutation.Mutant;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.LoadInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Plants a bug for each requirement of a simulation, which must find it within some seeds with the
 * right message. CONTRIBUTING.md lists them.
 */
final class SimulationMutantTest {
  private static final String CLUSTER = "io.millrace.cluster.";
  private static final String SIMULATION = CLUSTER + "simulation.";
  private static final long LEASE = ClusterSimulation.LEASE;

  /**
   * A bug and how it is found.
   *
   * @param bug what is wrong
   * @param mutant the code with it
   * @param run the simulation that must find it
   * @param seeds the number of seeds within which it must be found
   * @param finding what the message of the failure contains
   */
  record PlantedBug(
      String bug, Mutant mutant, Class<? extends LongConsumer> run, long seeds, String finding) {
    @Override
    public String toString() {
      return run.getSimpleName() + " finds " + bug;
    }
  }

  @ParameterizedTest
  @MethodSource({"locks", "clusters", "supervised", "windowed", "remote"})
  void a_planted_bug_is_found(PlantedBug bug) {
    Mutant.Failure found = bug.mutant.firstFailure(bug.seeds, bug.run);
    assertThat(found.failure()).as("seed %d", found.seed()).hasMessageContaining(bug.finding);
  }

  private static Mutant of(String type, String method) {
    return Mutant.of(CLUSTER + type, method);
  }

  private static Mutant ofSimulation(String type, String method) {
    return Mutant.of(SIMULATION + type, method);
  }

  /** Replaces reads of a field of type long by 0. */
  private static CodeTransform zero(String field) {
    return (code, element) -> {
      if (element instanceof FieldInstruction access
          && access.opcode() == Opcode.GETFIELD
          && access.name().equalsString(field)) {
        code.pop().lconst_0();
      } else {
        code.with(element);
      }
    };
  }

  /** Keeps the fence if a lock is taken by its previous holder. */
  private static final CodeTransform FENCE_OF_OTHERS =
      (code, element) -> {
        ClassDesc lock = ClassDesc.of(CLUSTER + "lock.LockDocument");
        // This, the token, the expiry of two slots, the fence.
        if (element instanceof LoadInstruction load
            && load.typeKind() == TypeKind.LONG
            && load.slot() == 4) {
          code.aload(1)
              .aload(0)
              .getfield(lock, "holder", ConstantDescs.CD_String)
              .invokevirtual(
                  ConstantDescs.CD_String,
                  "equals",
                  MethodTypeDesc.of(ConstantDescs.CD_boolean, ConstantDescs.CD_Object))
              .ifThenElse(
                  own -> own.aload(0).getfield(lock, "fence", ConstantDescs.CD_long),
                  others -> others.lload(4));
        } else {
          code.with(element);
        }
      };

  /** Makes comparisons with the state of success always true. */
  private static final CodeTransform ALWAYS_SUCCEEDED =
      (code, element) -> {
        if (element instanceof FieldInstruction access
            && access.opcode() == Opcode.GETSTATIC
            && access.name().equalsString("SUCCEEDED")) {
          code.pop().with(element);
        }
        code.with(element);
      };

  static Stream<PlantedBug> locks() {
    Mutant heldIsFree = of("lock.ObservedLocks$Observation", "isFree").returning(1);
    Mutant neverFree = of("lock.LeaseTerms", "takeoverMillis").returning(Long.MAX_VALUE);
    Mutant freeLate = of("lock.LeaseTerms", "takeoverMillis").returning(4 * LEASE);
    Mutant freeEarly = of("lock.LeaseTerms", "takeoverMillis").returning(LEASE / 2);
    return Stream.concat(
        Stream.of(
            new PlantedBug(
                "a lock that is given away while it is held",
                heldIsFree,
                LockRun.class,
                10,
                "two hold the lock at once"),
            new PlantedBug(
                "a lock that is given away while it is held",
                heldIsFree.and(SIMULATION + "LockSimulation", "check").withoutCall("holds"),
                LockWithoutPausesRun.class,
                10,
                "two are inside the guard"),
            new PlantedBug(
                "a permit that is given away before its lease has ended",
                freeEarly,
                PermitRun.class,
                40,
                "two hold the lock at once"),
            new PlantedBug(
                "a permit that is given away while it is held",
                heldIsFree.and(SIMULATION + "LockSimulation", "check").withoutCall("holds"),
                PermitWithoutPausesRun.class,
                10,
                "stood still"),
            new PlantedBug(
                "members that take a lock out of turn",
                of("shared.FairAcquirer", "isTurn").returning(1),
                FairnessRun.class,
                5,
                "has had a third turn while another one waits"),
            new PlantedBug(
                "members that wait for a lock and do not poll before it expires",
                of("shared.FairAcquirer", "nextPoll").returning(Long.MAX_VALUE),
                FairnessRun.class,
                5,
                "was free for too long")),
        Stream.of(LockRun.class, NamedLockRun.class, PermitRun.class)
            .flatMap(run ->
                Stream.of(
                    new PlantedBug(
                        "fences that do not grow",
                        of("lock.Locks", "acquire").withoutCall("after"),
                        run,
                        10,
                        "holder has an old fence"),
                    new PlantedBug(
                        "fences that go back",
                        of("lock.LockDocument", "released").with(zero("fence")),
                        run,
                        10,
                        "a fence went back"),
                    new PlantedBug(
                        "a holder that takes its lock again with the same fence",
                        of("lock.LockDocument", "taken").with(FENCE_OF_OTHERS),
                        run,
                        40,
                        "was given twice"),
                    new PlantedBug(
                        "a lost holder that is waited for forever",
                        neverFree,
                        run,
                        10,
                        "are held long after all trouble"),
                    new PlantedBug(
                        "a lost holder that is waited for too long",
                        freeLate,
                        run,
                        20,
                        "are held three leases after a crash"),
                    new PlantedBug(
                        "a user that writes outside of the guard",
                        ofSimulation("Contender", "work").withoutCall("enter"),
                        run,
                        40,
                        "a write comes too late"))));
  }

  static Stream<PlantedBug> clusters() {
    Mutant heldLeadIsFree = of("lock.Acquirer$OneLock", "attempt").withCallReturning("isFree", 1);
    Mutant freeLate = of("lock.LeaseTerms", "takeoverMillis").returning(5 * LEASE);
    return Stream.of(SupervisedRun.class, WindowedRun.class, RemoteRun.class)
        .flatMap(run ->
            Stream.of(
                new PlantedBug(
                    "a lead that is taken while it is held",
                    heldLeadIsFree,
                    run,
                    10,
                    "two lead at once"),
                new PlantedBug(
                    "a lost leader that is waited for too long",
                    freeLate,
                    run,
                    20,
                    "nobody leads three leases after a crash")));
  }

  static Stream<PlantedBug> supervised() {
    return Stream.of(
        new PlantedBug(
            "a follower that takes a partition that is held",
            of("partition.PartitionRunner", "free").withCallReturning("isFree", 1),
            SupervisedRun.class,
            10,
            "two attempts hold "),
        new PlantedBug(
            "a division before the old parts have stopped",
            of("leader.Assigner$Supervised", "assign").withCallReturning("allMatch", 1),
            SupervisedRun.class,
            40,
            "two attempts hold part-"),
        new PlantedBug(
            "a leader that does not divide anew",
            of("leader.Leader", "round").withoutCall("set"),
            SupervisedRun.class,
            10,
            "the work is not divided for "),
        new PlantedBug(
            "shares that do not add up",
            of("partition.PartitionRunner$Shares", "of").withCallReturning("anyMatch", 0),
            SupervisedRun.class,
            10,
            " parts these run: "),
        new PlantedBug(
            "members that take more than their share",
            of("partition.PartitionRunner$Shares", "of").returning(1000),
            SupervisedRun.class,
            10,
            " holds "),
        new PlantedBug(
            "a leader that waits for lease and margin twice",
            of("leader.Leader", "<init>").withCallReturning("takeoverMillis", 24_000L),
            StallRun.class,
            20,
            " ms after a death"),
        new PlantedBug(
            "members that do not watch each other before they lead",
            of("membership.MemberRegistration", "poll").withoutCall("observe"),
            StallRun.class,
            100,
            "the work was not spread for "));
  }

  static Stream<PlantedBug> windowed() {
    return Stream.of(
        new PlantedBug(
            "a follower that takes a partition that is held",
            of("partition.PartitionRunner", "free").withCallReturning("isFree", 1),
            WindowedRun.class,
            10,
            "two attempts hold "),
        new PlantedBug(
            "tasks of an earlier leader that are not given out again",
            of("leader.Assigner$Windowed", "assign").withoutCall("renew"),
            WindowedRun.class,
            20,
            " tasks were completed"),
        new PlantedBug(
            "work that has failed and counts as done",
            of("partition.PartitionRunner$HeldPartition", "settle").with(ALWAYS_SUCCEEDED),
            WindowedRun.class,
            10,
            " was completed and not done"),
        new PlantedBug(
            "partitions that stay when they are made anew",
            of("leader.Assignments", "create")
                .withoutCall("delete")
                .and(CLUSTER + "leader.Assignments", "renew")
                .withoutCall("delete"),
            WindowedRun.class,
            10,
            "partitions are left"));
  }

  static Stream<PlantedBug> remote() {
    return Stream.of(
        new PlantedBug(
            "names of lambdas that are used twice",
            of("partition.PartitionName", "<init>").withoutAssignment("number"),
            RemoteRun.class,
            10,
            "two lambdas have the name"),
        new PlantedBug(
            "a member that accepts what is addressed to others",
            of("remote.LambdaAdmission", "check").withCallReturning("equals", 1),
            RemoteRun.class,
            10,
            " is run by another than its addressee"),
        new PlantedBug(
            "a member that accepts again what it has begun",
            of("remote.LambdaAdmission", "check").withCallReturning("isNew", 1),
            RemoteRun.class,
            40,
            " was begun before"),
        new PlantedBug(
            "a member that forgets what it has begun",
            of("remote.LambdaAdmission", "isNew").returning(1),
            RemoteRun.class,
            40,
            " is run twice"),
        new PlantedBug(
            "submissions that are settled more than once",
            of("remote.dispatch.Submissions", "settle").withoutCall("remove"),
            RemoteRun.class,
            10,
            " runs twice"),
        new PlantedBug(
            "a removal that counts as an outcome",
            of("remote.dispatch.Submissions$Settlement", "decide").withCallReturning("isDone", 1),
            RemoteRun.class,
            10,
            " has an outcome and was not run"),
        new PlantedBug(
            "outcomes that are mixed up",
            of("remote.outcome.Outcome", "key")
                .returning("result/1-1")
                .and(CLUSTER + "remote.outcome.Outcome", "read")
                .withJump(Opcode.IFEQ, Opcode.IFNE),
            RemoteRun.class,
            10,
            "the result is that of another lambda"),
        new PlantedBug(
            "submissions that outlive their leader",
            of("remote.dispatch.Submissions", "begin").withoutCall("clear"),
            RemoteRun.class,
            20,
            "hears of its lambdas after its end"),
        new PlantedBug(
            "items that are committed again",
            of("remote.BacklogItems", "commit")
                .withoutCall("state")
                .and(CLUSTER + "documents.VersionedDocuments", "update")
                .withCallReturning("equals", 0),
            RemoteRun.class,
            20,
            " was done already"),
        new PlantedBug(
            "items that do not wait again",
            of("remote.ItemAssigner", "reEnqueue").returningNothing(),
            RemoteRun.class,
            20,
            " items are done"),
        new PlantedBug(
            "outcomes that are not swept",
            of("leader.AbandonedDocuments", "sweep").returningNothing(),
            RemoteRun.class,
            40,
            "left are "),
        new PlantedBug(
            "marks of members that are gone, which are not removed",
            of("remote.dispatch.DeadMembers", "forgetGone").returningNothing(),
            RemoteRun.class,
            20,
            "left are "),
        new PlantedBug(
            "partitions of earlier leaders that are not removed",
            of("remote.dispatch.OldPartitions", "remove").returning(1),
            RemoteRun.class,
            20,
            "left are "));
  }

  static final class LockRun implements LongConsumer {
    @Override
    public void accept(long seed) {
      LockSimulation.of(seed, true, ContendedLocks.lock()).run();
    }
  }

  static final class NamedLockRun implements LongConsumer {
    @Override
    public void accept(long seed) {
      LockSimulation.of(seed, true, ContendedLocks.namedLock()).run();
    }
  }

  static final class FairnessRun implements LongConsumer {
    @Override
    public void accept(long seed) {
      FairnessSimulationTest.requireFairness(seed);
    }
  }

  static final class LockWithoutPausesRun implements LongConsumer {
    @Override
    public void accept(long seed) {
      LockSimulation.of(seed, false, ContendedLocks.lock()).run();
    }
  }

  static final class PermitRun implements LongConsumer {
    @Override
    public void accept(long seed) {
      LockSimulation.of(seed, true, ContendedLocks.semaphore(2)).run();
    }
  }

  static final class PermitWithoutPausesRun implements LongConsumer {
    @Override
    public void accept(long seed) {
      LockSimulation.of(seed, false, ContendedLocks.semaphore(2)).run();
    }
  }

  static final class SupervisedRun implements LongConsumer {
    @Override
    public void accept(long seed) {
      new SupervisedSimulation(seed, ClusterSimulation.TERMS).run();
    }
  }

  static final class StallRun implements LongConsumer {
    @Override
    public void accept(long seed) {
      new SupervisedSimulation(seed, LeaseTerms.DEFAULT).requireShortStall();
    }
  }

  static final class WindowedRun implements LongConsumer {
    @Override
    public void accept(long seed) {
      new WindowedSimulation(seed).run();
    }
  }

  static final class RemoteRun implements LongConsumer {
    @Override
    public void accept(long seed) {
      new RemoteSimulation(seed).run();
    }
  }
}
