package io.millrace.schedules;

import io.millrace.schedules.ScheduleSimulationTest.Simulation;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.testkit.mutation.Mutant;
import io.millrace.store.testkit.mutation.PlantedBug;
import java.lang.constant.ConstantDesc;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Plants a bug for each requirement of the simulation of schedules, which must find it with the
 * right message. CONTRIBUTING.md lists them.
 */
final class ScheduleMutantTest {
  private static final String SCHEDULES = "io.millrace.schedules.";
  private static final int SEEDS = 20;

  @ParameterizedTest
  @MethodSource("bugs")
  void a_planted_bug_is_found(PlantedBug bug) {
    bug.mustBeFound(SEEDS, Simulation.class);
  }

  static Stream<PlantedBug> bugs() {
    return Stream.of(
        new PlantedBug(
            "a state is written whatever its version is",
            of("ScheduleSession", "change")
                .withCallReturning("stateVersion", (ConstantDesc) DocumentVersion.ANY),
            "one run for"),
        new PlantedBug(
            "a backfill runs what has run",
            of("Planner", "start").withCallReturning("hasRun", 0),
            "one run for"),
        new PlantedBug(
            "a run starts beside one that goes on",
            of("Planner", "idle").returning(1),
            ": runs of "),
        new PlantedBug(
            "a time that has come has no run",
            of("Planner", "arrive").returningNothing(),
            "times without a run"));
  }

  private static Mutant of(String type, String method) {
    return Mutant.of(SCHEDULES + type, method);
  }
}
