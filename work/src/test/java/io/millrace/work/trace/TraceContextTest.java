package io.millrace.work.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TraceContextTest {
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String SPAN = "00f067aa0ba902b7";
  private static final String PARENT = "00-" + TRACE + "-" + SPAN + "-01";

  @Test
  void headers_are_read_and_written() {
    TraceContext read = TraceContext.parse(PARENT, "vendor=a, other@b=c").orElseThrow();
    assertThat(read).isEqualTo(new TraceContext(TRACE, SPAN, true, "vendor=a, other@b=c"));
    assertThat(read.environment())
        .isEqualTo(Map.of("TRACEPARENT", PARENT, "TRACESTATE", "vendor=a, other@b=c"));
    assertThat(read.headers().keySet()).containsExactly("traceparent", "tracestate");
    assertThat(TraceContext.read(read.write())).isEqualTo(read);
    assertThat(TraceContext.read(null)).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "00",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473x-00f067aa0ba902b7-01"
      })
  void a_malformed_parent_is_ignored_with_its_state(String parent) {
    assertThat(TraceContext.parse(parent, "vendor=a")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "01-" + TRACE + "-" + SPAN + "-01-more, true",
    "00-" + TRACE + "-" + SPAN + "-00, false",
    "00-" + TRACE + "-" + SPAN + "-03, true"
  })
  void later_versions_and_flags_are_read(String parent, boolean sampled) {
    assertThat(TraceContext.parse(parent, null).orElseThrow().sampled()).isEqualTo(sampled);
  }

  @ParameterizedTest
  @ValueSource(strings = {"novalue", "a=1,a=2", "UPPER=1", "a=ü", "a=1;b=\u0000"})
  void a_malformed_state_is_ignored_alone(String state) {
    assertThat(TraceContext.parse(PARENT, state).orElseThrow().state()).isEmpty();
    assertThat(TraceContext.parse(PARENT, "a=" + "x".repeat(600)).orElseThrow().state()).isEmpty();
  }

  @Test
  void every_process_derives_the_same_spans_of_attempts() {
    TraceContext one = TraceContext.parse(PARENT, null).orElseThrow();
    TraceContext other = Objects.requireNonNull(TraceContext.read(one.write()));
    assertThat(one.attempt("task/1", 7)).isEqualTo(other.attempt("task/1", 7));
    assertThat(IntStream.range(0, 1_000).mapToObj(token -> one.attempt("task/1", token).spanId()))
        .doesNotHaveDuplicates()
        .doesNotContain(one.work("task/1").spanId(), SPAN);
  }

  @Test
  void the_ratio_decides_by_the_id_of_the_trace() {
    SplittableRandom random = new SplittableRandom(7);
    assertThat(IntStream.range(0, 100).mapToObj(_ -> TraceContext.start(random, 1)))
        .allMatch(TraceContext::sampled);
    assertThat(IntStream.range(0, 100).mapToObj(_ -> TraceContext.start(random, 0)))
        .noneMatch(TraceContext::sampled);
    assertThat(
            IntStream.range(0, 10_000)
                .mapToObj(_ -> TraceContext.start(random, 0.25))
                .filter(TraceContext::sampled)
                .count())
        .isBetween(2_300L, 2_700L);
  }
}
