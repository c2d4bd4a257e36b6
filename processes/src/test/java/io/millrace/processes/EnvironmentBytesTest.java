package io.millrace.processes;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EnvironmentBytesTest {
  private static final byte[] GIVEN =
      "A=1\0B=\u00ff=x\0=C=2\0broken\0E=\0A=3\0".getBytes(StandardCharsets.ISO_8859_1);

  private final DirectLauncher.EnvironmentBytes given =
      new DirectLauncher.EnvironmentBytes(GIVEN, StandardCharsets.US_ASCII);

  @Test
  void bytes_without_a_character_stay_what_they_are() {
    assertThat(texts(Map.of("B", "\ufffd=x"))).containsExactly("B=\u00ff=x");
  }

  @Test
  void what_has_another_value_now_gets_it() {
    assertThat(texts(Map.of("B", "new"))).containsExactly("B=new");
  }

  @Test
  void names_may_begin_with_what_ends_them_and_values_may_be_empty() {
    Map<String, String> wanted = new LinkedHashMap<>();
    wanted.put("=C", "2");
    wanted.put("E", "");
    wanted.put("NEW", "n");

    assertThat(texts(wanted)).containsExactly("=C=2", "E=", "NEW=n");
  }

  private List<String> texts(Map<String, String> wanted) {
    return given.of(wanted).stream()
        .map(bytes -> new String(bytes, StandardCharsets.ISO_8859_1))
        .toList();
  }
}
