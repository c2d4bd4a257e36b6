package io.millrace.cli.graph;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GraphRunTest {
  private static final String BUILD =
      """
      nodes:
        pack: {shell: cat ../out/*, cwd: work, parents: [left, right]}
        left: {shell: echo one > left, cwd: out, parents: begin}
        right: {shell: echo two > right, cwd: out, parents: begin}
        begin: {shell: mkdir -p out work, cwd: .}
        large:
          type: condition
          file: out/large
          parents: [pack]
        split: {shell: "false", parents: large, branch: then}
        join: {shell: echo joined, parents: split, always: true}
      """;

  private static final String PERIOD = "--unique-period";

  @TempDir private Path scratch = Path.of("");
  private GraphFixture site;

  @BeforeEach
  void open() {
    site = new GraphFixture(scratch.resolve("data"));
  }

  @AfterEach
  void close() {
    site.close();
  }

  private String file(String text) throws IOException {
    return Files.writeString(scratch.resolve("graph.yaml"), text).toString();
  }

  @Test
  void a_graph_is_run_and_its_output_printed_by_lines() throws Exception {
    Files.createDirectories(scratch.resolve("out"));
    Files.createDirectories(scratch.resolve("work"));
    Shell.CommandResult ran = site.run("graph", "run", file(BUILD), "--output");
    assertThat(ran.code()).as(ran.err()).isZero();
    assertThat(ran.out()).contains("pack | one\npack | two\n", "join | joined\n");
    assertThat(ran.err()).contains("pack  running", "6 finished, 1 skipped");
    JsonNode ends = site.shown("graph", "run", file(BUILD));
    assertThat(ends.path("pack").path("state").asString()).isEqualTo("finished");
    assertThat(ends.path("split").path("state").asString()).isEqualTo("skipped");
  }

  @Test
  void a_graph_that_fails_exits_with_6_and_says_what_failed() throws Exception {
    String file =
        file(
            """
            nodes:
              bad: {shell: "exit 7"}
              good: {shell: "true"}
              behind: {shell: "true", parents: [bad, good]}
            """);
    Shell.CommandResult ran = site.run("graph", "run", file);
    assertThat(ran.code()).isEqualTo(6);
    assertThat(ran.out()).contains("bad  failed", "behind  blocked");
    assertThat(ran.err())
        .isEqualTo("millrace: 1 bad failed: exit code 7\n1 finished, 1 failed, 1 blocked\n");
    Shell.CommandResult quiet = site.run("graph", "run", file, "--quiet");
    assertThat(quiet.code()).isEqualTo(6);
    assertThat(quiet.out()).isEmpty();
    Shell.CommandResult screen = site.runOnScreen("graph", "run", file);
    assertThat(screen.code()).isEqualTo(6);
    assertThat(screen.out()).endsWith("1 finished, 1 failed, 1 blocked\n\033[?7h");
    assertThat(screen.err()).hasLineCount(1);
  }

  @Test
  void a_run_says_why_nothing_happens_and_what_failed_nodes_wrote() throws Exception {
    String file =
        file(
            """
            nodes:
              late: {shell: "echo went wrong >&2; exit 3", delay: 5s}
              behind: {shell: "true", parents: late}
            """);
    Shell.CommandResult ran = site.run("graph", "run", file);
    assertThat(ran.code()).isEqualTo(6);
    assertThat(ran.err())
        .contains(
            "node 1 waits: it is to start at",
            "1 late failed: exit code 3\n  went wrong\n1 failed, 1 blocked\n");
    Shell.CommandResult screen = site.runOnScreen("graph", "run", file);
    assertThat(screen.code()).isEqualTo(6);
    assertThat(screen.out()).contains("node 3 waits: it is to start at");
    assertThat(screen.err()).contains("went wrong");
  }

  @Test
  void a_file_with_mistakes_adds_nothing_and_names_every_line() throws Exception {
    Shell.CommandResult ran =
        site.run(
            "graph",
            "run",
            file(
                """
                nodes:
                  a: {shell: x, tiemout: 1}
                  b: {comand: x}
                """));
    assertThat(ran.code()).isEqualTo(2);
    assertThat(ran.err().lines())
        .hasSize(3)
        .allMatch(line -> line.startsWith("millrace: ") && line.contains("graph.yaml line "));
    assertThat(ran.err()).contains("line 2: ", "did you mean timeout?", "did you mean command?");
    String many =
        IntStream.range(0, 30).mapToObj(i -> "  n" + i + ": 1\n").collect(Collectors.joining());
    assertThat(site.runReading("nodes:\n" + many, "graph", "run", "-").err())
        .hasLineCount(20)
        .contains("(and 10 more mistakes)");
    // The server's own refusal takes nothing either.
    String refused = "nodes: {a: {shell: x}, b: {type: other}}";
    for (String command : new String[] {"import", "run"}) {
      Shell.CommandResult told = site.runReading("#\n" + refused, "graph", command, "-");
      assertThat(told.code()).isEqualTo(3);
      assertThat(told.err())
          .startsWith("millrace: standard input line 2: node 'b': there is no type")
          .hasLineCount(1);
    }
    assertThat(site.run("graph", "show").err()).isEqualTo("no nodes\n");
  }

  @Test
  void a_run_goes_on_through_a_restart_of_the_server_and_ends_when_told_to() throws Exception {
    Path open = scratch.resolve("open");
    String file =
        file(
            """
            nodes:
              gate: {type: wait for, file: open, interval: 0.1}
              behind: {shell: echo through, parents: gate}
            """);
    Shell.CommandResult late = site.run("graph", "run", file, "--timeout", "300ms");
    assertThat(late.code()).isEqualTo(7);
    assertThat(late.err()).containsPattern("--timeout expired: 1 incipient, 1 (ready|running)");
    AwaitedOutput printed = new AwaitedOutput("gate  running");
    CompletableFuture<Integer> run =
        CompletableFuture.supplyAsync(
            () -> site.runWriting(printed, "graph", "run", file), Thread::startVirtualThread);
    printed.seen().get(60, TimeUnit.SECONDS);
    site.restart();
    Files.createFile(open);
    assertThat(run.get(60, TimeUnit.SECONDS)).isZero();
    assertThat(printed.toString(StandardCharsets.UTF_8)).contains("behind  finished");
  }

  @Test
  void a_graph_is_exported_in_every_form_and_imported_again() throws Exception {
    Files.createDirectories(scratch.resolve("out"));
    Files.createDirectories(scratch.resolve("work"));
    String ids = site.done("graph", "run", file(BUILD), "--detach");
    assertThat(ids.lines()).hasSize(7).contains("begin  1");
    site.done("graph", "wait", "1", "2", "3", "4", "5", "7");
    assertThat(site.done("graph", "export", "-f", "mermaid")).contains(":::skipped");
    assertThat(site.done("graph", "export", "-f", "dot")).contains("n1 -> n2;");
    String yaml = site.done("graph", "export");
    assertThat(yaml).contains("name: begin").doesNotContain("mixedout", "result");
    Path json = scratch.resolve("all.JSON");
    site.done("graph", "export", "--output", json.toString());
    assertThat(json).content().startsWith("{\"nodes\": {");
    String parent = site.done("graph", "add", "--shell", "true").strip();
    assertThat(site.runReading(yaml, "graph", "import", "-", "--parent", parent).out())
        .contains("1  9\n", "7  15\n");
    assertThat(site.shown("graph", "show", "9").path("parents")).hasToString("[\"8\"]");
    JsonNode again = site.shown("graph", "import", json.toString());
    assertThat(again.path("1").asString()).isEqualTo("16");
    String below = site.done("graph", "export", "--below", "5");
    assertThat(below).contains("'5':", "'6':").doesNotContain("'4'");
    assertThat(site.runReading(below, "graph", "import", "-").code()).isZero();
  }

  @Test
  void a_second_run_with_a_unique_key_waits_for_the_first_graph() throws Exception {
    Path open = scratch.resolve("open");
    String file =
        file(
            """
            nodes:
              gate: {type: wait for, file: open, interval: 0.1}
              behind: {shell: echo through, parents: gate}
            """);
    String first = site.done("graph", "run", file, "--unique", "a b&c", "--detach");
    site.done("graph", "add", "--parent", "2", "--shell", "echo below");
    AwaitedOutput printed = new AwaitedOutput("gate  running");
    CompletableFuture<Integer> second =
        CompletableFuture.supplyAsync(
            () -> site.runWriting(printed, "graph", "run", file, "--unique", "a b&c"),
            Thread::startVirtualThread);
    printed.seen().get(60, TimeUnit.SECONDS);
    Shell.CommandResult imported = site.run("graph", "import", file, "--unique", "a b&c");
    assertThat(imported.out()).isEqualTo(first);
    assertThat(imported.err())
        .isEqualTo("millrace: the unique key is held by 2 nodes; nothing was added\n");
    String other = "nodes: {other: {shell: x}}";
    assertThat(site.runReading(other, "graph", "import", "-", "--unique", "a b&c").out())
        .isEqualTo("1  1\n2  2\n");
    Files.createFile(open);
    assertThat(second.get(60, TimeUnit.SECONDS)).isZero();
    assertThat(printed.toString(StandardCharsets.UTF_8))
        .contains("nothing was added", "behind  finished", "3 finished");
    assertThat(site.shown("graph", "show")).hasSize(3);
    String again = site.done("graph", "run", file, "--unique", "a b&c", "--detach");
    assertThat(again.lines()).contains("gate  4", "behind  5");
  }

  @Test
  void of_runs_and_imports_at_once_with_a_unique_key_one_adds_its_graph() throws Exception {
    String file = file("nodes: {a: {shell: \"true\"}, b: {type: group, parents: a}}");
    List<CompletableFuture<Shell.CommandResult>> runs =
        IntStream.range(0, 8)
            .mapToObj(i ->
                CompletableFuture.supplyAsync(
                    () ->
                        i % 2 == 0
                            ? site.run("graph", "import", file, "--unique", "k", PERIOD, "1d")
                            : site.run("graph", "run", file, "--unique", "k", PERIOD, "1d", "-d"),
                    Thread::startVirtualThread))
            .toList();
    List<Shell.CommandResult> results = runs.stream().map(CompletableFuture::join).toList();
    assertThat(results).allSatisfy(run -> assertThat(run.out()).isEqualTo("a  1\nb  2\n"));
    assertThat(results.stream().filter(run -> run.err().isEmpty())).hasSize(1);
    assertThat(site.shown("graph", "show")).hasSize(2);
    site.done("graph", "import", file, "--unique-fields", "command", PERIOD, "1d");
    String same = "nodes: {c: {shell: \"true\"}, b: {type: group, after: c}}";
    assertThat(site.runReading(same, "graph", "import", "-", "--unique-fields", "command").out())
        .isEqualTo("3  3\n4  4\n");
    JsonNode ends = site.shown("graph", "run", file, "--unique", "k", PERIOD, "1d");
    assertThat(ends.path("a"))
        .hasToString("{\"id\":\"1\",\"state\":\"finished\",\"duplicate\":true}");
    // The key is held for a day, whatever becomes of the nodes.
    site.done("graph", "rm", "--below", "1");
    Shell.CommandResult gone =
        site.run("graph", "run", file, "--unique", "k", "--unique-scope", "unfinished");
    assertThat(gone.code()).isEqualTo(4);
    assertThat(gone.err()).contains("2 nodes, of which 2 have left the graph since");
  }

  @Test
  void options_of_a_unique_key_need_the_key() throws Exception {
    String file = file("nodes: {a: {shell: x}}");
    for (String command : new String[] {"run", "import"}) {
      Shell.CommandResult ran = site.run("graph", command, file, PERIOD, "1d");
      assertThat(ran.code()).isEqualTo(2);
      assertThat(ran.err()).contains("need --unique");
    }
    assertThat(site.run("graph", "run", file, "--unique", "").err()).contains("must not be empty");
  }

  @Test
  void a_graph_larger_than_a_request_is_imported_in_parts() {
    String nodes =
        IntStream.range(0, 2_500)
            .mapToObj(i -> "  n%d: {type: group, after: n%d}%n".formatted(i, i + 1))
            .collect(Collectors.joining());
    String text = "nodes:\n" + nodes + "  n2500: {type: group}\n";
    Shell.CommandResult ran = site.runReading(text, "graph", "import", "-");
    assertThat(ran.code()).as(ran.err()).isZero();
    assertThat(ran.out()).startsWith("n2500  1\nn2499  2\n").endsWith("n0  2501\n");
    assertThat(site.done("graph", "show", "-n", "10")).endsWith("… and 2,491 more\n");
    assertThat(site.shown("graph", "show")).hasSize(2_501);
  }
}
