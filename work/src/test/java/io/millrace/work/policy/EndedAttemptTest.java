package io.millrace.work.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ArrayNode;

class EndedAttemptTest {
  private static EndedAttempt attempt(long ended, String reason, String log) {
    return new EndedAttempt("n1", ended - 5, ended, "failed", "timeout", reason, log);
  }

  @Test
  void only_the_last_ones_are_kept() {
    List<EndedAttempt> all = List.of();
    List<Long> times = new ArrayList<>();
    for (long time = 10; time < 10 + EndedAttempt.MOST + 3; time++) {
      all = attempt(time, "broke", "").after(all);
      times.add(time);
    }
    assertThat(all)
        .extracting(EndedAttempt::endedMillis)
        .containsExactlyElementsOf(times.subList(3, times.size()));
  }

  @Test
  void the_beginning_of_a_reason_and_the_end_of_a_log_are_kept() {
    EndedAttempt attempt = attempt(9, "r".repeat(600) + "end", "begin" + "l".repeat(2_000));
    assertThat(attempt.reason()).isEqualTo("r".repeat(EndedAttempt.MAX_REASON - 1) + "…");
    assertThat(attempt.log()).isEqualTo("…" + "l".repeat(EndedAttempt.MAX_LOG - 1));
  }

  @Test
  void what_is_written_is_read_and_absent_fields_are_left_out() {
    EndedAttempt full = attempt(9, "broke", "a\nb");
    EndedAttempt lost = new EndedAttempt(null, 0, 7, "orphaned", null, null, null);
    ArrayNode written = EndedAttempt.write(List.of(full, lost));
    assertThat(EndedAttempt.read(written)).containsExactly(full, lost);
    assertThat(written.get(1)).hasToString("{\"end\":\"orphaned\",\"ended\":7}");
    assertThat(EndedAttempt.read(null)).isEmpty();
  }
}
