package io.millrace.queues.runner;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.NodeConfig.OutputLimits;
import io.millrace.queues.NodeConfig.OutputLimits.Files;
import io.millrace.queues.runner.Outputs.OutputPlacement;
import io.millrace.queues.runner.Outputs.OutputPlacement.How;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OutputPlacementTest {
  @ParameterizedTest
  @CsvSource({
    "0,0,INLINE,INLINE",
    "4000,96,INLINE,INLINE",
    "4000,97,TEXT,INLINE",
    "97,4000,INLINE,TEXT",
    "5000,5000,TEXT,TEXT",
    "10000,1,FILE,INLINE",
    "1,10000,INLINE,FILE",
    "10001,9000,FILE,TEXT",
    "10002,10001,FILE,FILE"
  })
  void auto_makes_a_file_of_what_is_too_long(long stdout, long stderr, How out, How err) {
    OutputPlacement.Both kept =
        OutputPlacement.of(stdout, stderr, new OutputLimits(Files.AUTO, 10_000, 1 << 20));

    assertThat(kept.stdout()).isEqualTo(new OutputPlacement(stdout, out));
    assertThat(kept.stderr()).isEqualTo(new OutputPlacement(stderr, err));
  }

  @Test
  void always_makes_a_file_of_all_but_nothing() {
    OutputPlacement.Both kept =
        OutputPlacement.of(1, 0, new OutputLimits(Files.ALWAYS, 10_000, 1 << 20));

    assertThat(kept.stdout()).isEqualTo(new OutputPlacement(1, How.FILE));
    assertThat(kept.stderr()).isEqualTo(new OutputPlacement(0, How.INLINE));
  }

  @ParameterizedTest
  @CsvSource({
    "9000,500,9000,500",
    "20000,500,9500,500",
    "500,20000,500,9500",
    "20000,20000,5000,5000"
  })
  void never_drops_what_does_not_fit_into_the_text(
      long stdout, long stderr, long keptOut, long keptErr) {
    OutputPlacement.Both kept =
        OutputPlacement.of(stdout, stderr, new OutputLimits(Files.NEVER, 10_000, 1 << 20));

    assertThat(kept.stdout().bytes()).isEqualTo(keptOut);
    assertThat(kept.stderr().bytes()).isEqualTo(keptErr);
    assertThat(kept.stdout().how()).isNotEqualTo(How.FILE);
  }
}
