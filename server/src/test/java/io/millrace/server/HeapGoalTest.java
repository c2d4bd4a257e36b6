package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HeapGoalTest {
  private static final long GIB = 1L << 30;

  private static final long MIB = 1L << 20;
  private static final long MINUTE = 60_000;

  @ParameterizedTest
  @CsvSource({"0, 6, 1", "2, 6, 6", "1, 6, 3", "5, 6, 6", "1, 1, 1"})
  void it_is_three_times_what_lives_between_the_least_and_the_whole_heap(
      long live, long most, long expected) {
    HeapGoal goal = new HeapGoal(most * GIB, 0);
    goal.collected(live * GIB, 1, 1_000);
    assertThat(goal.bytes()).isEqualTo(expected * GIB);
  }

  @Test
  void a_heap_smaller_than_the_least_goal_is_the_goal() {
    HeapGoal goal = new HeapGoal(GIB / 2, 0);
    goal.collected(GIB / 8, 900, 1_000);
    assertThat(goal.bytes()).isEqualTo(GIB / 2);
  }

  @Test
  void a_collector_that_is_busy_gets_more_room_until_it_is_not() {
    HeapGoal goal = new HeapGoal(6 * GIB, 0);
    goal.collected(100 * MIB, 260, 1_000);
    assertThat(goal.bytes()).isEqualTo(GIB + GIB / 2);
    goal.collected(100 * MIB, 260, 2_500);
    assertThat(goal.bytes()).isEqualTo(GIB + GIB / 2);
  }

  @Test
  void the_room_of_a_busy_collector_ends_with_the_heap() {
    HeapGoal goal = new HeapGoal(2 * GIB, 0);
    for (int second = 1; second < 10; second++) {
      goal.collected(100 * MIB, 999, second * 1_000L);
    }
    assertThat(goal.bytes()).isEqualTo(2 * GIB);
  }

  @Test
  void it_is_lowered_by_a_third_after_a_minute_that_needed_less() {
    HeapGoal goal = new HeapGoal(6 * GIB, 0);
    goal.collected(2 * GIB, 10, 1_000);
    goal.collected(GIB / 8, 10, 1_000 + MINUTE - 1);
    assertThat(goal.bytes()).isEqualTo(6 * GIB);
    goal.collected(GIB / 8, 0, 1_000 + MINUTE);
    assertThat(goal.bytes()).isEqualTo(4 * GIB);
    goal.collected(GIB, 10, 1_000 + MINUTE + MINUTE / 2);
    goal.collected(GIB / 8, 10, 1_000 + MINUTE + MINUTE);
    assertThat(goal.bytes()).isEqualTo(3 * GIB);
  }

  @Test
  void it_is_not_lowered_while_the_collector_would_be_busy_with_less() {
    HeapGoal goal = new HeapGoal(6 * GIB, 0);
    goal.collected(2 * GIB, 10, 1_000);
    goal.collected(GIB / 8, MINUTE / 6, 1_000 + MINUTE);
    assertThat(goal.bytes()).isEqualTo(6 * GIB);
  }

  @ParameterizedTest
  @CsvSource({
    "end of GC cycle, true",
    "end of minor GC, true",
    "end of GC pause, false",
    "Final Mark, false"
  })
  void pauses_of_a_collector_that_works_beside_the_program_end_nothing(
      String action, boolean isEnd) {
    assertThat(HeapGoal.isEndOfCollection(action)).isEqualTo(isEnd);
  }

  @Test
  void keeping_it_sets_the_flag_of_the_process() throws Exception {
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    Process process =
        new ProcessBuilder(
                java.toString(),
                "-Xmx2g",
                "-XX:+UseG1GC",
                "-cp",
                System.getProperty("java.class.path"),
                Keeping.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String told = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(process.waitFor()).isZero();
    assertThat(told.lines().toList().getLast()).isEqualTo(Long.toString(HeapGoal.LEAST_BYTES));
  }

  /** A process with a goal for its heap, which it prints. */
  static final class Keeping {
    private Keeping() {}

    public static void main(String[] arguments) {
      HeapGoal.keep();
      IO.println(
          ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
              .getVMOption("SoftMaxHeapSize")
              .getValue());
    }
  }
}
