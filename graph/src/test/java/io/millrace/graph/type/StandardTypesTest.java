package io.millrace.graph.type;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.processes.ProcessLauncher;
import io.millrace.work.policy.RetryPolicy;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the types say of the data that they are given. */
class StandardTypesTest {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final StandardTypes types = new StandardTypes(ProcessLauncher.create());

  @AfterEach
  void close() {
    types.close();
  }

  @Test
  void what_types_write_is_known_without_them() {
    assertThat(StandardTypes.outputs())
        .isEqualTo(
            types.types().stream().collect(Collectors.toMap(NodeType::name, NodeType::outputs)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          command       | {"command": "true"}
          command       | {"command": "sh", "args": ["-c", ""], "env": {"A_1": ""}, "cwd": "/", "stdin": "\\u0000"}
          command       | {"command": "true", "retries": 1000, "backoff": 0, "timeout": 0.001, "args": null}
          shell command | {"command": "-x"}
          condition     | {"shell": "true"}
          condition     | {"command": "test", "args": ["-f", "/x"]}
          condition     | {"file": "/x"}
          wait for      | {"file": "/x", "interval": 0.1}
          wait for      | {"port": "localhost:80"}
          wait for      | {"port": "[::1]:65535"}
          wait for      | {"time": "2030-01-31T08:00:00Z"}
          wait for      | {"time": "2030-01-31T08:00:00+02:00"}
          wait for      | {"time": 1900000000000}
          wait for      | {"shell": "true"}
          group         | {}
          group         | {"limits": null, "attempts": "free"}
          """)
  void what_a_type_can_work_with_is_taken(String type, String data) {
    assertThatCode(() -> check(type, data)).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          command       | {}                                       | command is missing
          command       | {"command": null}                        | command is missing
          command       | {"command": ""}                          | command is empty
          command       | {"command": 5}                           | command must be a text, not 5
          command       | {"command": "-x"}                        | command starts with a dash: -x
          command       | {"command": "a\\u0000b"}                 | command contains the character 0
          command       | {"command": "x", "args": "y"}            | args must be a list of texts, not "y"
          command       | {"command": "x", "args": [1]}            | args must be a list of texts, not 1
          command       | {"command": "x", "env": ["A"]}           | env must be an object of texts, not ["A"]
          command       | {"command": "x", "env": {"A": 1}}        | env must be an object of texts, not 1
          command       | {"command": "x", "env": {"1A": ""}}      | env names a variable "1A"
          command       | {"command": "x", "cwd": "y"}             | cwd must be an absolute path, not "y"
          command       | {"command": "x", "stdin": {}}            | stdin must be a text, not {}
          command       | {"command": "x", "retries": 1001}        | retries must be a whole number from 0 to 1000, not 1001
          command       | {"command": "x", "retries": 1.5}         | retries must be a whole number from 0 to 1000, not 1.5
          command       | {"command": "x", "backoff": -1}          | backoff must be a number of seconds from 0 to 86400, not -1
          command       | {"command": "x", "timeout": "5"}         | timeout must be a number of seconds from 0.001 to 31536000, or a duration such as 30s, not "5"
          command       | {"command": "x", "timeout": 0}           | timeout must be a number of seconds from 0.001 to 31536000, not 0
          command       | {"command": "x", "timeout": "0s"}        | timeout must be a number of seconds from 0.001 to 31536000, or a duration such as 30s, not "0s"
          command       | {"command": "x", "attempts": 0}          | attempts must be an integer from 1 to 10000
          command       | {"command": "x", "attempts": {}}         | attempts must be a text, a number or a list of texts, not {}
          command       | {"command": "x", "attempts": 2, "retries": 1} | retries and attempts are both set; retries is an older form of attempts
          command       | {"command": "x", "backoff": 2, "retry_delay": "1s"} | backoff and retry_delay are both set
          command       | {"command": "x", "retry_delay": "1s,x"}  | retry_delay must be a duration
          command       | {"command": "x", "retry_jitter": 2}      | retry_jitter must be a number from 0 to 1
          command       | {"command": "x", "interruptions": -1}    | interruptions must be a whole number from 0 to 10000, not -1
          command       | {"command": "x", "at": "tomorrow"}       | at must be a time as in 2030-01-31T08:00:00Z or a number of milliseconds since 1970, not "tomorrow"
          command       | {"command": "x", "at": -1}               | at must be a time
          command       | {"command": "x", "delay": "x"}           | delay must be a number of seconds from 0 to 315360000, or a duration such as 30s, not "x"
          command       | {"command": "x", "wait_timeout": 0}      | wait_timeout must be a number of seconds from 0.001 to 315360000, not 0
          command       | {"command": "x", "total_timeout": "0s"}  | total_timeout must be a number of seconds
          group         | {"limits": "scanner"}                    | limits is set, but a group does not run; give limits to the nodes in it
          group         | {"limit_key": "ann"}                     | limit_key is set, but a group does not run
          group         | {"note": 1, "priority_level": 3}         | priority_level is set, but a group does not run
          shell command | {"command": ["x"]}                       | command must be a text, not ["x"]
          condition     | {}                                       | one of command, shell, file must be set, not none
          condition     | {"shell": "x", "file": "/x"}             | one of command, shell, file must be set, not shell and file
          condition     | {"shell": "x", "args": []}               | args is set, and there is no command
          wait for      | {"interval": 1}                          | one of file, port, time, command, shell must be set, not none
          wait for      | {"file": "x"}                            | file must be an absolute path, not "x"
          wait for      | {"file": "/x", "interval": 0}            | interval must be a number of seconds from 0.1 to 86400, not 0
          wait for      | {"port": 80}                             | port must be a text, not 80
          wait for      | {"port": "localhost"}                    | port must be as in localhost:8080, not "localhost"
          wait for      | {"port": "x:70000"}                      | port must be as in localhost:8080, not "x:70000"
          wait for      | {"port": "::1:80"}                       | port must be as in localhost:8080, not "::1:80"
          wait for      | {"time": "tomorrow"}                     | time must be as in 2030-01-31T08:00:00Z
          wait for      | {"time": 1.5}                            | time must be a text, not 1.5
          """)
  void what_is_wrong_is_said_with_the_key(String type, String data, String message) {
    assertThatThrownBy(() -> check(type, data))
        .isInstanceOf(InvalidGraphException.class)
        .hasMessageStartingWith(message);
  }

  @Test
  void what_the_system_would_not_take_is_refused_with_the_key_and_the_limit() {
    String longest = "x".repeat(131_071);
    String more = longest + "x";
    String umlauts = "ä".repeat(65_536);
    for (String data :
        List.of(
            "{'command': '" + longest + "'}",
            "{'command': 'x', 'args': ['" + longest + "'], 'stdin': '" + more + "'}",
            "{'command': 'x', 'env': {'A': '" + longest.substring(2) + "'}}")) {
      assertThatCode(() -> check("command", data.replace('\'', '"'))).doesNotThrowAnyException();
    }
    assertRefused("shell command", "{'command': '" + more + "'}", "command has 131,072 bytes");
    assertRefused("command", "{'command': '" + umlauts + "'}", "command has 131,072 bytes");
    assertRefused("condition", "{'shell': '" + more + "'}", "shell has 131,072 bytes");
    assertRefused("wait for", "{'shell': '" + more + "'}", "shell has 131,072 bytes");
    assertRefused(
        "command",
        "{'command': 'x', 'timeout': 1" + "0".repeat(400) + "}",
        "timeout must be a number of seconds from 0.001 to 31536000, not 1000");
    assertRefused(
        "command", "{'command': 'x', 'args': ['', '" + more + "']}", "args 2 has 131,072 bytes");
    assertRefused(
        "command",
        "{'command': 'x', 'env': {'A': '" + longest.substring(1) + "'}}",
        "env A has 131,072 bytes; the system takes up to 131,071");
    String many = String.join("','", Collections.nCopies(200_000, ""));
    assertRefused(
        "command",
        "{'command': 'x', 'args': ['" + many + "']}",
        "args and env take 1,800,010 bytes together");
  }

  private void assertRefused(String type, String data, String message) {
    assertThatThrownBy(() -> check(type, data.replace('\'', '"')))
        .isInstanceOf(InvalidGraphException.class)
        .hasMessageStartingWith(message);
  }

  @Test
  void every_type_that_works_reads_how_often_and_how_long() {
    assertThat(types.types())
        .extracting(NodeType::name)
        .containsExactly("command", "shell command", "condition", "wait for", "group");
    for (NodeType type : types.types()) {
      if (!type.name().equals("group")) {
        assertThat(type.inputs()).contains("retries", "backoff", "timeout", "attempts", "snoozes");
      }
    }
  }

  @Test
  void pauses_double_up_to_an_hour_and_longer_ones_stay() {
    String thousand = "{'retries': 1000}";
    assertThat(pause(thousand, 1)).hasValue(Duration.ofSeconds(1));
    assertThat(pause(thousand, 2)).hasValue(Duration.ofSeconds(2));
    assertThat(pause(thousand, 12)).hasValue(Duration.ofSeconds(2_048));
    assertThat(pause(thousand, 13)).hasValue(Duration.ofHours(1));
    assertThat(pause(thousand, 1000)).hasValue(Duration.ofHours(1));
    assertThat(pause(thousand, 1001)).isEmpty();
    assertThat(pause("{'retries': 9, 'backoff': 86400}", 9)).hasValue(Duration.ofDays(1));
    assertThat(pause("{'retries': 9, 'backoff': 0}", 9)).hasValue(Duration.ZERO);
    assertThat(pause("{}", 1)).isEmpty();
  }

  @Test
  void retries_are_set_as_those_of_queues_too() {
    String listed = "{'attempts': 4, 'retry_delay': '1s,1m'}";
    assertThat(pause(listed, 1)).hasValue(Duration.ofSeconds(1));
    assertThat(pause(listed, 2)).hasValue(Duration.ofMinutes(1));
    assertThat(pause(listed, 3)).hasValue(Duration.ofMinutes(1));
    assertThat(pause(listed, 4)).isEmpty();
    String equal = "{'attempts': '3', 'retry_delay': ['90s'], 'retry_factor': 1}";
    assertThat(pause(equal, 2)).hasValue(Duration.ofSeconds(90));
    String capped = "{'retries': 9, 'backoff': 60, 'retry_max_delay': '90s'}";
    assertThat(pause(capped, 5)).hasValue(Duration.ofSeconds(90));
    RunPolicy policy = RunPolicy.of(values("{'retry_except': '3,4', 'snoozes': 2}"));
    assertThat(policy.retries().except()).containsExactlyInAnyOrder("3", "4");
    assertThat(policy.retries().snoozes()).isEqualTo(2);
    assertThat(RunPolicy.of(values("{'timeout': '1.5m'}")).timeout())
        .isEqualTo(Duration.ofSeconds(90));
  }

  @Test
  void what_the_first_version_stored_keeps_its_meaning() {
    RunPolicy policy =
        RunPolicy.ofFirstVersion(values("{'retries': 2, 'timeout': 5, 'attempts': 'mine'}"));

    assertThat(policy.retries().attempts()).isEqualTo(3);
    assertThat(policy.timeout()).isEqualTo(Duration.ofSeconds(5));
    assertThat(RunPolicy.ofFirstVersion(values("{'retries': -1}"))).isEqualTo(RunPolicy.DEFAULT);
  }

  private static Optional<Duration> pause(String data, int failures) {
    return RunPolicy.of(values(data))
        .retries()
        .retry(failures, RetryPolicy.Failed.UNKNOWN, new Random(1));
  }

  private static Map<String, JsonNode> values(String data) {
    Map<String, JsonNode> values = new HashMap<>();
    JSON.readTree(data.replace('\'', '"'))
        .properties()
        .forEach(property -> values.put(property.getKey(), property.getValue()));
    return values;
  }

  private void check(String type, String data) {
    Map<String, JsonNode> values = values(data);
    types.types().stream()
        .filter(it -> it.name().equals(type))
        .findFirst()
        .orElseThrow()
        .check(values);
  }
}
