package io.millrace.cli.graph.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.StringNode;

class GraphFileTest {
  private static final Path FOLDER = Path.of("/here");

  private static GraphFile read(String text) {
    return GraphFile.read(text, FOLDER);
  }

  /** The mistakes of a file, each as its line and its message. */
  private static String mistakes(String text) {
    GraphFileException e = catchThrowableOfType(GraphFileException.class, () -> read(text));
    assertThat(e).as(text).isNotNull();
    return e.mistakes().stream()
        .map(one -> one.line() + ": " + one.message())
        .collect(Collectors.joining("\n"));
  }

  private static FileNode node(GraphFile file, String key) {
    return file.nodes().stream().filter(node -> node.key().equals(key)).findAny().orElseThrow();
  }

  @Test
  void nodes_are_read_with_all_that_they_say() {
    GraphFile file =
        read(
            """
            defaults:
              env: {CC: clang, LEVEL: 1}
              timeout: 10m
            nodes:
              fetch:
                shell: |
                  curl -O "$URL"
                  ls
                env: {URL: http://x, LEVEL: 02}
                cwd: work
                retries: 2
                backoff: 500ms
              build:
                command: [make, -j, 2]
                parents: fetch
                stdin: "yes"
                timeout: 90
              big:
                type: condition
                name: Is it big?
                file: /tmp/big
                parent: build
              pack:
                command: tar
                args: [czf, out.tgz, 007]
                parents: [big]
                branch: then
                after: [fetch]
                always: true
                data:
                  owner: me
                  sizes: [1, 2.5, null]
              hall: {type: group, parents: []}
            """);
    FileNode fetch = node(file, "fetch");
    assertThat(fetch.line()).isEqualTo(5);
    assertThat(fetch.type()).isEqualTo("shell command");
    assertThat(fetch.data())
        .hasToString(
            "{command=\"curl -O \\\"$URL\\\"\\nls\\n\", backoff=0.5, cwd=\"/here/work\","
                + " env={\"CC\":\"clang\",\"LEVEL\":\"02\",\"URL\":\"http://x\"}, retries=2,"
                + " timeout=600}");
    FileNode build = node(file, "build");
    assertThat(build.type()).isEqualTo("command");
    assertThat(build.place().parents()).containsExactly("fetch");
    assertThat(build.data().get("args")).hasToString("[\"-j\",\"2\"]");
    assertThat(build.data().get("timeout")).hasToString("90");
    assertThat(node(file, "big").name()).isEqualTo("Is it big?");
    FileNode pack = node(file, "pack");
    assertThat(pack.place())
        .isEqualTo(new FileNode.Place(List.of("big"), List.of("fetch"), "then", true));
    assertThat(pack.data().get("args")).hasToString("[\"czf\",\"out.tgz\",\"007\"]");
    assertThat(pack.data().get("sizes")).hasToString("[1,2.5,null]");
    assertThat(node(file, "hall").data()).isEmpty();
  }

  @Test
  void settings_of_retries_are_read_and_one_form_of_a_node_goes_before_the_other_of_the_defaults() {
    GraphFile file =
        read(
            """
            defaults: {retries: 2, retry_delay: 1m, timeout: 5m, at: 2030-01-31T08:00:00Z}
            nodes:
              a: {shell: a, retry_except: [3, timeout], snoozes: 5, retry_jitter: 0.1}
              b: {shell: b, attempts: 7, backoff: 5s, delay: 90s, wait_timeout: 1h, total_timeout: 2}
            """);
    assertThat(node(file, "a").data())
        .hasToString(
            "{command=\"a\", retry_except=\"3,timeout\", retry_jitter=\"0.1\", snoozes=\"5\","
                + " retries=2, retry_delay=\"1m\", timeout=300, at=\"2030-01-31T08:00:00Z\"}");
    assertThat(node(file, "b").data())
        .hasToString(
            "{command=\"b\", attempts=\"7\", backoff=5, delay=90, total_timeout=2,"
                + " wait_timeout=3600, timeout=300}");
    assertThat(mistakes("nodes: {a: {shell: a, retry_delay: soon, attempts: 0, at: noon}}"))
        .contains("at must be a date and a time with a zone")
        .contains("retry_delay must be a duration")
        .contains("attempts must be an integer from 1 to 10000");
  }

  @Test
  void limits_are_names_with_a_key_and_a_priority() {
    GraphFile file =
        read(
            """
            defaults: {limits: mail}
            nodes:
              a: {shell: a}
              b: {shell: b, limits: [scan, mail], limit_key: 007, priority_level: 9}
            """);
    assertThat(node(file, "a").data()).hasToString("{command=\"a\", limits=\"mail\"}");
    assertThat(node(file, "b").data())
        .containsEntry("limits", StringNode.valueOf("scan,mail"))
        .containsEntry("limit_key", StringNode.valueOf("007"));
    assertThat(node(file, "b").data().get("priority_level")).hasToString("9");
    assertThat(mistakes("nodes: {a: {shell: a, limits: [a b]}}"))
        .contains("limits: the name of a limit has 1 to 64 characters");
  }

  @Test
  void json_is_read_as_well() {
    GraphFile file = read("{\"nodes\": {\"a\": {\"shell\": \"true\", \"retries\": 1}}}");
    assertThat(file.nodes().getFirst().data()).hasToString("{command=\"true\", retries=1}");
  }

  @Test
  void aliases_stand_for_what_they_name() {
    GraphFile file =
        read(
            """
            nodes:
              a: {shell: x, env: &common {A: b}}
              b: {shell: y, env: *common}
            """);
    assertThat(node(file, "b").data().get("env")).hasToString("{\"A\":\"b\"}");
  }

  @Test
  void all_mistakes_are_told_with_their_lines_and_what_was_meant() {
    assertThat(
            mistakes(
                """
                nodez: {}
                nodes:
                  one:
                    shell: echo
                    retires: 2
                  two:
                    command: [ls]
                    args: [-l]
                    timeout: soon
                  three:
                    shell: a
                    command: b
                  one:
                    shell: again
                  four:
                    name: nothing to do
                  five: echo
                  six:
                    type: shel command
                    command: x
                  seven:
                    shell: x
                    shell: y
                    always: 1
                  eight:
                    shell: x
                    branch: maybe
                    data: {stdout: x, env: {}}
                    env: {A: [1]}
                """))
        .isEqualTo(
            """
            1: a graph file has no nodez; did you mean nodes?
            5: a node of type 'shell command' has no retires; did you mean retries?
            8: the arguments are already given in command
            9: timeout is a duration such as 30s or 5m, or a number of seconds, not "soon"
            11: a node has shell or command, not both
            13: the node 'one' is already defined on line 3
            15: the node 'four' has neither shell nor command nor type
            17: the node 'five' must have keys, for example 'shell: echo hello'
            19: the type 'shel command' is not known here; did you mean shell command? Data of\
             other types goes below data
            23: shell is already given on line 22
            24: always is true or false, not 1
            27: branch is then or else, not 'maybe'
            28: stdout is written by the node itself
            28: env is given twice
            29: A must be text\
            """);
  }

  @Test
  void references_that_lead_nowhere_are_told() {
    assertThat(
            mistakes(
                """
                nodes:
                  build: {shell: a}
                  test: {shell: a, parents: [biuld, build, build]}
                  then: {shell: a, parents: build, branch: then}
                """))
        .isEqualTo(
            """
            3: the node 'test' names 'biuld', which is not in this file; did you mean 'build'?
            3: the node 'test' names 'build' twice
            4: the node 'then' is on a branch, and none of its parents is a condition\
            """);
  }

  @Test
  void what_a_type_needs_and_wrong_references_are_told_at_once() {
    assertThat(
            mistakes(
                """
                nodes:
                  a: {type: command}
                  b: {type: shell command, data: {command: true}}
                  c: {type: condition, file: x, shell: y}
                  d: {type: wait for, timeout: 1m}
                  e: {type: queue task, params: {}}
                  f: {type: job}
                  g: {type: cindition, file: x}
                  h: {shell: x, parents: g, branch: then}
                  i: {shell: x, parents: [j, k]}
                  j: {shell: x, after: i}
                """))
        .isEqualTo(
            """
            2: the node 'a' of type 'command' has no command
            4: the node 'c' has shell and file, but only one of them is allowed
            5: the node 'd' of type 'wait for' has no file or port or time or command or shell
            6: the node 'e' of type 'queue task' has no queue
            8: the type 'cindition' is not known here; did you mean condition? Data of other types\
             goes below data
            10: the node 'i' names 'k', which is not in this file
            10: these nodes wait for each other: i for j for i\
            """);
  }

  @Test
  void nodes_that_wait_for_each_other_are_told() {
    assertThat(
            mistakes(
                """
                nodes:
                  z: {shell: a}
                  a: {shell: a, parents: [z, b]}
                  b: {shell: a, after: c}
                  c: {shell: a, parents: a}
                """))
        .isEqualTo("3: these nodes wait for each other: a for b for c for a");
    assertThat(mistakes("nodes: {a: {shell: x, after: a}}"))
        .isEqualTo("1: these nodes wait for each other: a for a");
  }

  @Test
  void a_chain_of_any_length_is_read() {
    StringBuilder text = new StringBuilder("nodes:\n  n0: {shell: x}\n");
    for (int i = 1; i < 20_000; i++) {
      text.append("  n").append(i).append(": {shell: x, parents: n").append(i - 1).append("}\n");
    }
    assertThat(read(text.toString()).nodes()).hasSize(20_000);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "# nothing",
        "x",
        "[]",
        "nodes:",
        "nodes: []",
        "nodes: {}",
        "nodes:\n\ta: 1",
        "nodes: {a: {shell: x}",
        "nodes: {? [a] : {shell: x}}",
        "nodes: {a: {shell: *b}}",
        "nodes: &a {a: *a}",
        "defaults: 1\nnodes: {a: {shell: x}}",
        "defaults: {stdin: x}\nnodes: {a: {shell: x}}",
        "nodes: {a: {type: group, data: []}}",
        "nodes: {a: {type: other, retries: 1}}",
        "nodes: {a: {command: []}}",
        "nodes: {a: {type: command, args: [x]}}",
        "nodes: {a: {shell: {}}}",
        "nodes: {a: {shell: x, cwd: \"\\0\"}}",
        "nodes: {a: {shell: x, retries: -1}}",
        "nodes: {a: {shell: x, timeout: -1}}",
        "nodes: {a: {shell: x, env: [A]}}",
        "--- \nnodes: {a: {shell: x}}\n---\nnodes: {}",
        "nodes: {a: {shell: x, name: [b]}}",
        "nodes: {a: {shell: x, parents: {b: c}}}"
      })
  void whatever_is_no_graph_is_told_with_a_line(String text) {
    assertThat(mistakes(text)).matches("(?s)[1-9][0-9]*: .+");
  }

  @Test
  void a_file_that_makes_much_of_little_is_refused() {
    StringBuilder bomb = new StringBuilder("nodes:\n  a0: &a0 {shell: x}\n");
    for (int i = 1; i < 30; i++) {
      String last = "*a" + (i - 1);
      bomb.append("  a%d: &a%d [%s, %s]\n".formatted(i, i, last, last));
    }
    assertThat(mistakes(bomb.toString())).contains("too much in one file");
  }

  @Test
  void what_is_written_is_read_again_as_it_was() {
    JsonNodeFactory json = JsonNodeFactory.instance;
    FileNode.Place nowhere = new FileNode.Place(List.of(), List.of(), "", false);
    FileNode first =
        new FileNode(
            "7",
            0,
            "it's: #1 ✓",
            "shell command",
            nowhere,
            Map.of(
                "command", json.stringNode("echo 1\n\n  echo '2' \t\n"),
                "env", json.objectNode().put("A", "012").put("B", "null"),
                "timeout", json.numberNode(1.5),
                "note", json.arrayNode().add(1).add("x").addNull()));
    FileNode second =
        new FileNode(
            "9",
            0,
            "",
            "condition",
            new FileNode.Place(List.of("7"), List.of(), "", true),
            Map.of("shell", json.stringNode("test -f x"), "stdin", json.stringNode("\r\u0001")));
    FileNode third =
        new FileNode(
            "10",
            0,
            "10",
            "command",
            new FileNode.Place(List.of("9"), List.of("7"), "else", false),
            Map.of("command", json.stringNode("true"), "args", json.arrayNode().add("-1")));
    List<FileNode> nodes = List.of(first, second, third);
    for (boolean yaml : new boolean[] {true, false}) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      try (PrintStream out = new PrintStream(bytes, false, StandardCharsets.UTF_8);
          GraphFileWriter writer = new GraphFileWriter(out, yaml)) {
        nodes.forEach(writer::write);
      }
      String text = bytes.toString(StandardCharsets.UTF_8);
      List<FileNode> read = read(text).nodes();
      for (int i = 0; i < nodes.size(); i++) {
        FileNode node = read.get(i);
        FileNode expected = nodes.get(i);
        assertThat(node.name()).as(text).isEqualTo(expected.name());
        assertThat(node.type()).isEqualTo(expected.type());
        assertThat(node.place()).isEqualTo(expected.place());
        assertThat(node.data().keySet()).isEqualTo(expected.data().keySet());
        expected
            .data()
            .forEach((key, value) ->
                assertThat(node.data().get(key)).as(key).hasToString(value.toString()));
      }
    }
  }

  @Test
  void an_empty_graph_is_written_too() {
    for (boolean yaml : new boolean[] {true, false}) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      try (PrintStream out = new PrintStream(bytes, false, StandardCharsets.UTF_8)) {
        new GraphFileWriter(out, yaml).close();
      }
      assertThat(mistakes(bytes.toString(StandardCharsets.UTF_8))).contains("there are no nodes");
    }
  }
}
