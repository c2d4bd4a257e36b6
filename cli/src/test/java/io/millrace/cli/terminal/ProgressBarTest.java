package io.millrace.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ProgressBarTest {
  private static String drawn(boolean watched, long total) {
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    PrintStream stream = new PrintStream(err, true, StandardCharsets.UTF_8);
    Terminal terminal = new Terminal(InputStream.nullInputStream(), System.out, stream, watched);
    try (ProgressBar bar = new ProgressBar(terminal, "submitted")) {
      bar.show(15, total);
      bar.show(30, total);
    }
    return err.toString(StandardCharsets.UTF_8);
  }

  @Test
  void the_rate_and_the_time_that_is_left_are_those_of_all_of_it() {
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    PrintStream stream = new PrintStream(err, true, StandardCharsets.UTF_8);
    Terminal terminal = new Terminal(InputStream.nullInputStream(), System.out, stream, true);
    long[] seconds = {0};
    try (ProgressBar bar =
        new ProgressBar(terminal, "submitted", () -> seconds[0] * 1_000_000_000)) {
      seconds[0] = 10;
      bar.show(1_000, 10_000);
      seconds[0] = 20;
      bar.show(50, 100_000);
      seconds[0] = 30;
      bar.show(90.0, "nearly");
      bar.show(10_000, 10_000);
    }
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("1000 of 10000 submitted, 100 a second, 1 min 30 s left")
        .contains("50 of 100000 submitted, 2.5 a second, 11 h 6 min left")
        .contains("90 % nearly, 4 s left")
        .contains("10000 of 10000 submitted, 333 a second\r\033[K");
  }

  @Test
  void nothing_is_drawn_where_nobody_watches() {
    assertThat(drawn(false, 30)).isEmpty();
  }

  @Test
  void a_bar_fills_up_to_its_end_and_goes_away() {
    assertThat(drawn(true, 30))
        .contains("[###############               ] 15 of 30 submitted")
        .contains("[##############################] 30 of 30 submitted")
        .endsWith("\r\033[K");
  }

  @Test
  void without_a_total_it_counts() {
    assertThat(drawn(true, 0)).contains("15 submitted").doesNotContain("[#");
  }

  @Test
  void the_share_of_one_thing_is_drawn_with_what_is_being_done() {
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    PrintStream stream = new PrintStream(err, true, StandardCharsets.UTF_8);
    Terminal terminal = new Terminal(InputStream.nullInputStream(), System.out, stream, true);
    try (ProgressBar bar = new ProgressBar(terminal, "ended")) {
      bar.show(50.4, "half done");
    }
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("[###############               ] 50 % half done");
  }
}
