package io.millrace.cli.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import java.nio.charset.StandardCharsets;
import java.time.OffsetDateTime;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Log lines in JSON. */
class JsonLogEncoderTest {
  private final LoggerContext context = new LoggerContext();
  private final Logger logger = context.getLogger("io.millrace.Example");

  private JsonNode line(
      Map<String, String> mdc, @Nullable Throwable thrown, String message, Object... arguments) {
    context.setMDCAdapter(new LogbackMDCAdapter());
    LoggingEvent event = new LoggingEvent("", logger, Level.WARN, message, thrown, arguments);
    event.setMDCPropertyMap(mdc);
    event.setTimeStamp(1_767_225_600_123L);
    String text = new String(new JsonLogEncoder().encode(event), StandardCharsets.UTF_8);
    assertThat(text).endsWith("}\n").containsOnlyOnce("\n");
    return JsonMapper.shared().readTree(text);
  }

  @Test
  void a_line_has_the_time_with_its_zone_and_the_message() {
    JsonNode line = line(Map.of(), null, "it is {}", "late");
    assertThat(OffsetDateTime.parse(line.path("time").asString()).toInstant())
        .hasToString("2026-01-01T00:00:00.123Z");
    assertThat(line.path("level").asString()).isEqualTo("WARN");
    assertThat(line.path("logger").asString()).isEqualTo("io.millrace.Example");
    assertThat(line.path("message").asString()).isEqualTo("it is late");
    assertThat(line.has("exception")).isFalse();
  }

  @Test
  void ids_that_a_message_names_are_fields() {
    JsonNode line =
        line(Map.of(), null, "{}: job {} of worker {} has {}", "a", "j1", "w1", "nothing");
    assertThat(line.path("job").asString()).isEqualTo("j1");
    assertThat(line.path("worker").asString()).isEqualTo("w1");
    assertThat(line.size()).isEqualTo(7);
  }

  @Test
  void ids_of_the_context_are_fields_and_take_precedence() {
    JsonNode line = line(Map.of("task", "t1", "time", "no"), null, "task {} ends", "t2");
    assertThat(line.path("task").asString()).isEqualTo("t1");
    assertThat(line.path("time").asString()).startsWith("20");
  }

  @Test
  void an_exception_is_one_field_with_its_stack_trace() {
    JsonNode line = line(Map.of(), new IllegalStateException("no\nway"), "bad \"news\"\n");
    assertThat(line.path("message").asString()).isEqualTo("bad \"news\"\n");
    assertThat(line.path("exception").asString())
        .startsWith("java.lang.IllegalStateException: no\nway")
        .contains("JsonLogEncoderTest");
  }

  @Test
  void a_message_with_fewer_arguments_than_places_is_written() {
    assertThat(line(Map.of(), null, "task {} and job {}", "t1").path("task").asString())
        .isEqualTo("t1");
    assertThat(line(Map.of(), null, "task {}").path("message").asString()).isEqualTo("task {}");
  }
}
