package io.millrace.cli.tasks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

class ParamsSourceTest {
  private static InputStream in(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
  }

  private static List<String> json(String text) throws IOException {
    return all(new ParamsSource.JsonParams("input", in(text)));
  }

  private static List<String> csv(String text) throws IOException {
    return all(new ParamsSource.CsvParams("input", in(text), ','));
  }

  private static List<String> all(ParamsSource source) throws IOException {
    List<String> all = new ArrayList<>();
    try (source) {
      for (JsonNode next = source.next(); next != null; next = source.next()) {
        all.add(next.toString());
      }
    }
    return all;
  }

  @Test
  void json_is_an_array_or_objects_one_after_the_other() throws IOException {
    List<String> both = List.of("{\"a\":1}", "{\"b\":[1.10]}");
    assertThat(json("[{\"a\":1},\n {\"b\":[1.10]}]\n")).isEqualTo(both);
    assertThat(json("{\"a\":1}\n\n{\"b\":[1.10]}")).isEqualTo(both);
    assertThat(json("\uFEFF{\"a\":1}{\"b\":[1.10]}")).isEqualTo(both);
    assertThat(json("")).isEmpty();
    assertThat(json(" [ ] ")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'a':1}~{}|2|empty",
        "[{'a':1},~5]|2|not 5",
        "{'a':1}~~x|3|Unrecognized",
        "[{'a':1}~{'b':2}]|2|comma",
        "[{'a':1}~|2|end-of-input",
        "[{'a':1}]~{'b':2}|2|follows",
        "{'a':~1|2|end-of-input",
      })
  void malformed_json_is_named_by_its_line(String text, long line, String what) {
    String input = text.replace('\'', '"').replace('~', '\n');
    assertThatThrownBy(() -> json(input))
        .isInstanceOfSatisfying(
            CommandException.class, e -> assertThat(e.exitCode()).isEqualTo(ExitCode.USAGE))
        .hasMessageStartingWith("input line " + line + ": ")
        .hasMessageContaining(what);
  }

  @Test
  void the_header_of_csv_names_the_params_and_values_are_text() throws IOException {
    assertThat(csv("\uFEFFname, n \r\n\"a, \"\"b\"\"\nc\",007\r\n\r\nwörk,\r\n"))
        .containsExactly(
            "{\"name\":\"a, \\\"b\\\"\\nc\",\"n\":\"007\"}", "{\"name\":\"wörk\",\"n\":\"\"}");
    assertThat(csv("a\n")).isEmpty();
    assertThat(all(new ParamsSource.CsvParams("input", in("a;b\n1,5;2\n"), ';')))
        .containsExactly("{\"a\":\"1,5\",\"b\":\"2\"}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a,b~1,2~3|3|1 values for the 2 names",
        "a,b~1,2,3|2|3 values for the 2 names",
        "a,b~'x~y',2~3|4|1 values for the 2 names",
        "a,b~1,'2~3,4~|2|EOF",
        "a,b~1,'2'x~|2|Invalid",
        "a,a~1,2|1|twice",
        "a,~1,2|1|empty name",
      })
  void malformed_csv_is_named_by_its_line(String text, long line, String what) {
    String input = text.replace('\'', '"').replace('~', '\n');
    assertThatThrownBy(() -> csv(input))
        .isInstanceOfSatisfying(
            CommandException.class, e -> assertThat(e.exitCode()).isEqualTo(ExitCode.USAGE))
        .hasMessageStartingWith("input line " + line + ": ")
        .hasMessageContaining(what);
  }

  @Test
  void csv_without_a_header_is_malformed() {
    assertThatThrownBy(() -> csv("")).hasMessageContaining("no header");
  }

  @Test
  void csv_is_utf8() {
    InputStream latin =
        new ByteArrayInputStream("a\nw\u00f6rk\n".getBytes(StandardCharsets.ISO_8859_1));
    assertThatThrownBy(() -> all(new ParamsSource.CsvParams("input", latin, ',')))
        .hasMessageContaining("not UTF-8");
  }

  @Test
  void ids_are_kept_as_they_were() {
    TaskWaiter.Ids ids = new TaskWaiter.Ids();
    for (int i = 0; i < 1000; i++) {
      ids.add("%024x".formatted(i));
    }
    assertThat(ids.size()).isEqualTo(1000);
    assertThat(ids.get(0)).isEqualTo("0".repeat(24));
    assertThat(ids.get(999)).isEqualTo("0".repeat(21) + "3e7");
  }
}
