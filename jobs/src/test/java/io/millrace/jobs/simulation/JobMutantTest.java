package io.millrace.jobs.simulation;

import io.millrace.jobs.simulation.JobSimulation.Simulation;
import io.millrace.store.testkit.mutation.Mutant;
import io.millrace.store.testkit.mutation.PlantedBug;
import java.lang.classfile.Opcode;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Plants a bug for each requirement of the simulation of jobs, which must find it with the right
 * message. CONTRIBUTING.md lists them.
 */
final class JobMutantTest {
  private static final String REGISTRY = "io.millrace.jobs.registry.";
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
            of(REGISTRY + "UniqueJobs$Holder", "isOver").returning(1),
            "two hold the key"),
        new PlantedBug(
            "two submissions with one key are in one commit",
            of(REGISTRY + "Submitting", "firstOfEachKey").withCallReturning("add", 1),
            "changes too fast"),
        new PlantedBug(
            "a job that has ended keeps its unique key",
            of(REGISTRY + "UniqueJobs", "released").withCallReturning("holds", 1),
            "does not hold the key"),
        new PlantedBug(
            "a failure with a fatal code is tried again",
            of(POLICY + "RetryPolicy", "retry").withCallReturning("contains", 0),
            "two hold the key"),
        new PlantedBug(
            "there is an attempt too many",
            of(POLICY + "RetryPolicy", "retry").withJump(Opcode.IF_ICMPGE, Opcode.IF_ICMPGT),
            "is tried again and again"),
        new PlantedBug(
            "jitter is twice as large",
            of(POLICY + "RetryPolicy", "jittered").withConstant(1.0, 0.5),
            "ms after"),
        new PlantedBug(
            "pauses have no cap",
            of(POLICY + "RetryPolicy", "jittered").withCallReturning("min", 1e9),
            "ms after"),
        new PlantedBug(
            "snoozes are not counted",
            of(REGISTRY + "Transitions", "snoozed").withConstant(1, 0),
            "was interrupted by nobody"),
        new PlantedBug(
            "an interrupted attempt counts as a return",
            of(REGISTRY + "Attempt", "writeTo").withJump(Opcode.IFNONNULL, Opcode.IFNULL),
            "was interrupted by nobody"),
        new PlantedBug(
            "jobs have no keys for their limits",
            of(REGISTRY + "JobTransaction", "add").withoutCall("lane"),
            "of the key"),
        new PlantedBug(
            "the limits of types are not written",
            of(REGISTRY + "TypeSettings", "settle").returningNothing(),
            "are running"),
        new PlantedBug(
            "nobody looks again at jobs that wait for a limit",
            of("io.millrace.jobs.dispatch.JobDispatcher", "assign").withoutCall("add"),
            "while there is room"),
        new PlantedBug(
            "nobody looks again at delayed jobs",
            of("io.millrace.jobs.dispatch.JobDispatcher", "readChanges").withoutCall("add"),
            "while there is room"),
        new PlantedBug(
            "a report on an attempt that has ended is accepted",
            of(REGISTRY + "Attempt", "judge").withCallReturning("equals", 1),
            "from pending to pending"),
        new PlantedBug(
            "claims are not renewed",
            of("io.millrace.jobs.dispatch.JobDispatcher", "renew").withCallReturning("isEmpty", 1),
            "is given out again while it runs"),
        new PlantedBug(
            "jobs that wait too long go on",
            of(REGISTRY + "UserActions", "expire").returningNothing(),
            "is over time and goes on"),
        new PlantedBug(
            "attempts may take any time",
            of(REGISTRY + "JobTimeouts", "step").withoutCall("ifPresent"),
            "takes too long"));
  }

  private static Mutant of(String type, String method) {
    return Mutant.of(type, method);
  }
}
