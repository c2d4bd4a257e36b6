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
