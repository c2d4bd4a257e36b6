package io.millrace.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;

/** The messages about texts that are not JSON. */
class JsonErrorsTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "[[[[[[[[[[[[[[[[[[[[",
        "{\"a\": NaN}",
        "{\"a\": Infinity}",
        "{\"a\": +1}",
        "{\"a\": .5}",
        "{\"a\": 1.}",
        "{\"a\": 007}",
        "{\"a\": 1, \"a\": 2}",
        "{a: 1}",
        "{'a': 1}",
        "{\"a\": 1,}",
        "[1, /* two */ 2]",
        "# nothing",
        "\"\\q\"",
        "\"a\nb\"",
        "[1 2]",
        "[1",
        "nul",
        "]",
      })
  void the_message_is_about_the_text_and_not_about_the_library(String text) {
    JacksonException error = catchThrowableOfType(JacksonException.class, () -> readAll(text));
    assertThat(JsonErrors.message(error))
        .doesNotContain("Feature", "Constraints", "enable", "Source", "`", "Exception")
        .isNotBlank();
  }

  private static void readAll(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    try (JsonParser json = JsonText.FACTORY.createParser(ObjectReadContext.empty(), bytes)) {
      while (json.nextToken() != null) {
        json.getString();
      }
    }
  }
}
