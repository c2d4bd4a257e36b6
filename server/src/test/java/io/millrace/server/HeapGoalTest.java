package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HeapGoalTest {
  private static final long GIB = 1L << 30;

  @ParameterizedTest
  @CsvSource({"0, 6, 1", "2, 6, 6", "1, 6, 3", "5, 6, 6", "1, 1, 1"})
  void it_is_three_times_what_lives_between_the_least_and_the_whole_heap(
      long live, long most, long goal) {
    assertThat(HeapGoal.bytes(live * GIB, most * GIB)).isEqualTo(goal * GIB);
  }

  @Test
  void a_heap_smaller_than_the_least_goal_is_the_goal() {
    assertThat(HeapGoal.bytes(GIB / 8, GIB / 2)).isEqualTo(GIB / 2);
  }

  @Test
  void keeping_it_sets_the_flag_of_this_process() {
    HeapGoal.keep();

    long set =
        Long.parseLong(
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                .getVMOption("SoftMaxHeapSize")
                .getValue());
    assertThat(set)
        .isBetween(
            Math.min(HeapGoal.LEAST_BYTES, Runtime.getRuntime().maxMemory()),
            Runtime.getRuntime().maxMemory());
  }
}
