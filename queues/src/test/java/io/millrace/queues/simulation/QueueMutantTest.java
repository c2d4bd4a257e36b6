package io.millrace.queues.simulation;

import io.millrace.queues.simulation.QueueSimulation.Simulation;
import io.millrace.store.testkit.mutation.Mutant;
import io.millrace.store.testkit.mutation.PlantedBug;
import java.lang.classfile.Opcode;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Plants a bug for each requirement of the simulation of queues, which must find it with the right
 * message. CONTRIBUTING.md lists them.
 */
final class QueueMutantTest {
  private static final String QUEUES = "io.millrace.queues.registry.";
  private static final String POLICY = "io.millrace.work.policy.";
  private static final int SEEDS = 30;

  @ParameterizedTest
  @MethodSource("bugs")
  void a_planted_bug_is_found(PlantedBug bug) {
    bug.mustBeFound(SEEDS, Simulation.class);
  }

  static Stream<PlantedBug> bugs() {
    return Stream.of(
        new PlantedBug(
            "a unique key that is held counts as free",
            of(QUEUES + "UniqueHolds", "isOver").returning(1),
            "two hold the key"),
        new PlantedBug(
            "a task that has ended keeps its unique key",
            of(QUEUES + "TaskTransitions", "released").withCallReturning("holds", 1),
            "does not hold the key"),
        new PlantedBug(
            "there is an attempt too many",
            of(POLICY + "RetryPolicy", "retry").withJump(Opcode.IF_ICMPGE, Opcode.IF_ICMPGT),
            "is tried again and again"),
        new PlantedBug(
            "failures are not counted",
            of(QUEUES + "RunEnd$Settlement", "failed").withConstant(1, 0),
            "counts wrongly"),
        new PlantedBug(
            "tasks have no keys for their limits",
            of(QUEUES + "TaskSubmission", "add").withoutCall("lane"),
            "of the key"),
        new PlantedBug(
            "a claim does not name the limit of the queue",
            of(QUEUES + "Claiming", "claim").withCallReturning("limit", 100),
            "are running"),
        new PlantedBug(
            "the limits of queues are not written",
            of(QUEUES + "QueueRegistry", "limit").returningNothing(),
            "of "),
        new PlantedBug(
            "a task that was lost counts as failed",
            of(QUEUES + "RunEnd$Settlement", "next").withConstant(1, 2),
            "counts wrongly"));
  }

  private static Mutant of(String type, String method) {
    return Mutant.of(type, method);
  }
}
