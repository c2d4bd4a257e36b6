package io.millrace.cli.graph;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GraphCommandsTest {
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

  private String added(String... options) {
    String[] command = new String[options.length + 2];
    command[0] = "graph";
    command[1] = "add";
    System.arraycopy(options, 0, command, 2, options.length);
    return site.done(command).strip();
  }

  /** A node that runs until a file is there. */
  private String gate(Path open) {
    return added(
        "--type", "wait for", "-n", "gate", "--data", "file=" + open, "-d", "interval=0.1");
  }

  @Test
  void a_node_is_added_with_all_that_can_be_said_of_it() throws Exception {
    Path script = Files.writeString(scratch.resolve("script"), "cat; echo \"$GREETING\"\n");
    String first = added("-s", "true");
    JsonNode node =
        site.shown(
            "graph",
            "show",
            added(
                "--name",
                "größe",
                "--parent",
                first,
                "--always",
                "--env",
                "GREETING=a=b",
                "--cwd",
                scratch.toString(),
                "--retries",
                "2",
                "--backoff",
                "250ms",
                "--retry-except",
                "3",
                "--retry-jitter",
                "0.5",
                "--interruptions",
                "1",
                "--limits",
                "mail,scan",
                "--limit-key",
                "ann",
                "--priority-level",
                "7",
                "--wait-timeout",
                "1.5h",
                "--total-timeout",
                "2d",
                "--at",
                "2126-12-24T18:00:00+01:00",
                "--timeout",
                "1m",
                "--keep-finished",
                "7d",
                "--keep-count",
                "5",
                "--data",
                "note=[1]",
                "-d",
                "script=@" + script,
                "--",
                "bash",
                "-c",
                "-x"));
    assertThat(node.path("name").asString()).isEqualTo("größe");
    assertThat(node.path("parents")).hasToString("[\"" + first + "\"]");
    assertThat(node.path("always").asBoolean()).isTrue();
    JsonNode data = node.path("data");
    assertThat(data.path("command").asString()).isEqualTo("bash");
    assertThat(data.path("args")).hasToString("[\"-c\",\"-x\"]");
    assertThat(data.path("env")).hasToString("{\"GREETING\":\"a=b\"}");
    assertThat(data.path("backoff")).hasToString("0.25");
    assertThat(data.path("timeout")).hasToString("60");
    assertThat(data.path("attempts")).hasToString("3");
    assertThat(data.path("retry_except")).hasToString("\"3\"");
    assertThat(data.path("retry_jitter")).hasToString("0.5");
    assertThat(data.path("interruptions")).hasToString("1");
    assertThat(data.path("limits").asString()).isEqualTo("mail,scan");
    assertThat(data.path("limit_key").asString()).isEqualTo("ann");
    assertThat(data.path("priority_level")).hasToString("7");
    assertThat(data.path("wait_timeout")).hasToString("5400");
    assertThat(data.path("total_timeout")).hasToString("172800");
    assertThat(data.path("at").asString()).isEqualTo("2126-12-24T18:00:00+01:00");
    assertThat(data.path("keep_finished")).hasToString("\"7d\"");
    assertThat(data.path("keep_count")).hasToString("5");
    assertThat(data.path("note")).hasToString("[1]");
    assertThat(data.path("script").asString()).startsWith("cat; echo");
  }

  @Test
  void a_node_is_waited_for_and_its_exit_code_told() {
    Shell.CommandResult well =
        site.runReading("from här\n", "graph", "add", "--wait", "--stdin", "-", "--", "cat");
    assertThat(well.code()).as(well.err()).isZero();
    String id = well.out().strip();
    assertThat(site.done("graph", "output", id)).isEqualTo("from här\n");
    Shell.CommandResult badly = site.run("graph", "add", "-w", "--shell", "echo no >&2; exit 3");
    assertThat(badly.code()).isEqualTo(6);
    assertThat(badly.err()).contains("failed: exit code 3");
    String bad = badly.out().strip();
    assertThat(site.done("graph", "output", bad, "--stderr")).isEqualTo("no\n");
    assertThat(site.done("graph", "show", bad))
        .containsPattern("attempts so far:\n  20\\S+Z failed: exit code 3\n    no\n")
        .doesNotContain("endedAttempts");
    assertThat(site.done("graph", "log", bad, "--mixed")).isEqualTo("no\n");
    assertThat(site.run("graph", "output", bad, "-f").code()).isEqualTo(6);
    assertThat(site.run("graph", "wait", id, id).out()).isEqualTo(id + "  finished\n");
    Shell.CommandResult both = site.runReading(id + "\n\n" + bad, "graph", "wait", "-");
    assertThat(both.code()).isEqualTo(6);
    assertThat(both.out()).isEqualTo(id + "  finished\n" + bad + "  failed: exit code 3\n");
    assertThat(both.err()).contains("1 finished, 1 failed");
    Shell.CommandResult some = site.run("graph", "wait", "777", id, "--json");
    assertThat(some.code()).isEqualTo(4);
    assertThat(some.out()).isEqualTo("{\"id\":\"" + id + "\",\"state\":\"finished\"}\n");
    assertThat(some.err()).contains("777").contains("1 not there");
  }

  @Test
  void while_a_node_with_a_unique_key_has_not_ended_its_id_is_printed_again() {
    String first = added("--unique", "a b&c", "--delay", "1h", "-s", "true");
    assertThat(added("--unique", "a b&c", "-s", "false")).isEqualTo(first);
    String other = added("--unique", "other", "--unique-period", "1d", "-s", "true");
    assertThat(other).isNotEqualTo(first);
    assertThat(site.run("graph", "kill", first).code()).isZero();
    assertThat(added("--unique", "a b&c", "-s", "true")).isNotIn(first, other);
  }

  @Test
  void a_node_that_waits_is_moved_and_its_data_changed() throws Exception {
    Path text = Files.writeString(scratch.resolve("text"), "exit 3");
    String gate = gate(scratch.resolve("never"));
    String other = gate(scratch.resolve("neither"));
    String id = added("-p", gate, "-s", "true");
    assertThat(site.done("graph", "mv", id, "-p", gate + "," + other, "-n", "moved"))
        .isEqualTo(id + "  moved\n");
    assertThat(site.done("graph", "set", id, "command=@" + text, "note={\"a\": 1.25}"))
        .isEqualTo(id + "  command\n" + id + "  note\n");
    JsonNode node = site.shown("graph", "show", id);
    assertThat(node.path("parents")).hasToString("[\"" + gate + "\",\"" + other + "\"]");
    assertThat(node.path("name").asString()).isEqualTo("moved");
    assertThat(node.path("data").path("command").asString()).isEqualTo("exit 3");
    assertThat(node.path("data").path("note")).hasToString("{\"a\":1.25}");
    site.done("graph", "mv", id, "--parent", "root", "--after", gate, "--name", "");
    JsonNode again = site.shown("graph", "show", id);
    assertThat(again.path("parents")).isEmpty();
    assertThat(again.path("after")).hasToString("[\"" + gate + "\"]");
    assertThat(again.has("name")).isFalse();
    site.done("graph", "mv", id, "--after", "none", "--branch", "none");
    assertThat(site.run("graph", "wait", id).code()).isEqualTo(6);
    expect(3, "finished", "graph", "mv", added("-w", "-s", "true"), "-p", gate);
  }

  @Test
  void nodes_are_shown_that_have_a_text_in_what_they_were_given() {
    String mail = added("-s", "echo 'to the Printer'");
    String other = added("-s", "true");
    assertThat(site.shown("graph", "show", "--text", "the printer").path(0).path("id").asString())
        .isEqualTo(mail);
    assertThat(site.shown("graph", "show", "--text", "printer", "--state", "killed")).isEmpty();
    expect(2, "filters cannot be combined", "graph", "show", other, "--text", "x");
  }

  @Test
  void a_command_that_runs_adds_nodes_below_itself_by_this_program() {
    String program =
        "'%s' -XX:TieredStopAtLevel=1 -cp '%s' io.millrace.cli.Millrace graph"
            .formatted(
                Path.of(System.getProperty("java.home"), "bin", "java"),
                System.getProperty("java.class.path"));
    Shell.CommandResult ran =
        site.run(
            "graph",
            "add",
            "--wait",
            "-s",
            "set -e; %1$s add -p $MILLRACE_NODE_ID -s true; ! %1$s add -s true".formatted(program));
    assertThat(ran.code()).as(ran.err()).isZero();
    String id = ran.out().strip();
    String child = site.done("graph", "output", id).strip();
    assertThat(site.shown("graph", "show", child).path("parent").asString()).isEqualTo(id);
    assertThat(site.done("graph", "output", id, "--stderr")).contains("millrace: ");
    assertThat(site.shown("graph", "show")).hasSize(2);
  }

  @Test
  void a_retry_frees_what_a_failure_blocks() {
    Path mend = scratch.resolve("mend");
    String bad = added("-s", "test -e " + mend);
    String below = added("-p", bad, "-s", "true");
    Shell.CommandResult blocked = site.run("graph", "wait", "--settled", bad, below);
    assertThat(blocked.code()).isEqualTo(6);
    assertThat(blocked.out()).contains(below + "  blocked: ");
    assertThat(site.run("graph", "wait", below, "--timeout", "1s").code()).isEqualTo(7);
    assertThat(site.run("graph", "retry", below).code()).isEqualTo(3);
    assertThat(mend.toFile().mkdir()).isTrue();
    assertThat(site.done("graph", "retry", bad)).startsWith(bad + "  ");
    assertThat(site.done("graph", "wait", below)).isEqualTo(below + "  finished\n");
    assertThat(site.done("graph", "show")).contains("✓ " + bad, ", attempt 2", "└─ ✓ " + below);
    assertThat(site.run("graph", "rm", bad).code()).isEqualTo(3);
    assertThat(site.run("graph", "rm", bad, "--alone", "--below").code()).isEqualTo(2);
    String last = added("-p", below, "-s", "true");
    assertThat(site.done("graph", "rm", below, "--alone")).isEqualTo(below + "  removed\n");
    assertThat(site.done("graph", "show", "--json", "-b", bad)).contains("\"" + last + "\"");
    assertThat(site.done("graph", "rm", bad, "--below")).contains("2 nodes in all");
    assertThat(site.run("graph", "show").err()).isEqualTo("no nodes\n");
  }

  @Test
  void a_node_that_runs_is_killed_and_its_output_followed_to_the_end() throws Exception {
    String id =
        added("-s", "echo begun; trap 'echo ending; exit 1' INT; while :; do sleep 0.1; done");
    AwaitedOutput printed = new AwaitedOutput("begun");
    CompletableFuture<Integer> follower = writing(printed, "graph", "output", id, "--follow");
    printed.seen().get(60, TimeUnit.SECONDS);
    Shell.CommandResult killed =
        site.run("graph", "kill", id, "--signal", "INT", "--grace", "30s", "-w");
    assertThat(killed.code()).as(killed.err()).isZero();
    assertThat(killed.out()).startsWith(id + "  killed");
    assertThat(follower.get(60, TimeUnit.SECONDS)).isEqualTo(6);
    assertThat(printed.toString(StandardCharsets.UTF_8)).isEqualTo("begun\nending\n");
  }

  @Test
  void the_graph_is_watched_as_lines_as_messages_and_as_a_tree() throws Exception {
    Path open = scratch.resolve("open");
    String gate = gate(open);
    String below = added("-p", gate, "-n", "behind", "-s", "true");
    AwaitedOutput lines = new AwaitedOutput("watching: 1 incipient, 1 running");
    CompletableFuture<Integer> plain = writing(lines, "graph", "watch", "--settled");
    AwaitedOutput messages = new AwaitedOutput("\"nodes\":[");
    CompletableFuture<Integer> json = writing(messages, "graph", "watch", "--settled", "--json");
    lines.seen().get(60, TimeUnit.SECONDS);
    messages.seen().get(60, TimeUnit.SECONDS);
    Files.createFile(open);
    assertThat(plain.get(60, TimeUnit.SECONDS)).isZero();
    assertThat(json.get(60, TimeUnit.SECONDS)).isZero();
    assertThat(lines.toString(StandardCharsets.UTF_8))
        .containsPattern("[0-9:]{8}  ✓ " + gate + " gate  finished")
        .containsPattern("[0-9:]{8}  ✓ " + below + " behind  finished");
    assertThat(messages.toString(StandardCharsets.UTF_8)).contains("\"changed\":[");
    Shell.CommandResult screen = site.runOnScreen("graph", "watch", "--settled");
    assertThat(screen.code()).isZero();
    assertThat(screen.out())
        .contains("\033[J")
        .contains("└─ \033[32m✓\033[0m " + below + " behind  \033[32mfinished")
        .contains("2 finished\n");
    assertThat(site.run("graph", "watch", "--timeout", "100ms").code()).isZero();
  }

  private CompletableFuture<Integer> writing(AwaitedOutput printed, String... command) {
    // Not in the common pool, whose only thread may be needed to hear of the ends of processes.
    return CompletableFuture.supplyAsync(
        () -> site.runWriting(printed, command), Thread::startVirtualThread);
  }

  @Test
  void what_is_wrong_is_said_in_one_line_with_its_exit_code() throws Exception {
    String id = added("-s", "true");
    Path folder = scratch.toAbsolutePath();
    Path latin = Files.write(scratch.resolve("latin"), new byte[] {(byte) 0xe9});
    expect(2, "name what to run", "graph", "add");
    expect(2, "--at must be a date and a time", "graph", "add", "--at", "noon", "-s", "true");
    Path one = Files.writeString(scratch.resolve("one.yaml"), "nodes: {a: {shell: 'true'}}");
    for (String command : List.of("run", "import")) {
      expect(
          2,
          "--at and --delay cannot be combined",
          "graph",
          command,
          one.toString(),
          "--at",
          "2126-01-01T00:00:00Z",
          "--delay",
          "5s");
      expect(2, "--delay must be", "graph", command, one.toString(), "--delay", "soon");
    }
    expect(2, "not both", "graph", "add", "-s", "true", "--", "true");
    expect(2, "--branch is then or else", "graph", "add", "--branch", "maybe", "-s", "true");
    expect(2, "number from 1, not 'x'", "graph", "add", "--parent", "x", "-s", "true");
    expect(2, "number from 1, not 'root'", "graph", "add", "--after", "root", "-s", "true");
    expect(2, "NAME=VALUE", "graph", "add", "--env", "X", "-s", "true");
    expect(2, "'X' is given twice", "graph", "add", "-e", "X=1", "-e", "X=2", "-s", "true");
    expect(2, "KEY=VALUE", "graph", "add", "--data", "=1", "-s", "true");
    expect(2, "'command' is given twice", "graph", "add", "-d", "command=x", "-s", "true");
    expect(2, "there is no file nope", "graph", "add", "--stdin", "nope", "-s", "true");
    expect(2, "not text in UTF-8", "graph", "add", "--data", "k=@" + latin, "-s", "true");
    expect(3, "no type \"nope\"", "graph", "add", "--type", "nope");
    expect(3, "cwd", "graph", "add", "-d", "cwd=x", "-s", "true");
    expect(3, "999", "graph", "add", "--parent", "999", "-s", "true");
    expect(2, "retries", "graph", "add", "--retries", "-1", "-s", "true");
    expect(2, "need --unique", "graph", "add", "--unique-period", "1d", "-s", "true");
    expect(2, "unique_scope", "graph", "add", "--unique", "k", "--unique-scope", "x", "-s", "true");
    expect(2, "number from 1, not 'x y'", "graph", "show", "x y");
    expect(2, "cannot be combined with the id", "graph", "show", id, "--state", "failed");
    expect(2, "--state is one of incipient", "graph", "show", "--state", "lost");
    expect(2, "--limit is a number from 0", "graph", "show", "-n", "-1");
    expect(4, "999", "graph", "show", "999");
    expect(2, "--limit", "graph", "watch", "-n", "-1");
    expect(4, "999", "graph", "output", "999");
    expect(
        2, "--stderr and --mixed cannot be combined", "graph", "output", id, "--stderr", "--mixed");
    expect(2, "not '0'", "graph", "wait", "0");
    expect(2, "not '1,2'", "graph", "kill", "1,2");
    expect(4, "999", "graph", "kill", "999");
    expect(3, "signal", "graph", "kill", id, "--signal", "NOPE");
    expect(4, "999", "graph", "retry", "999");
    expect(2, "name what to change", "graph", "mv", id);
    expect(2, "then, else or none, not 'x'", "graph", "mv", id, "--branch", "x");
    expect(4, "999", "graph", "mv", "999", "-p", "root");
    expect(2, "KEY=VALUE, not 'x'", "graph", "set", id, "x");
    expect(3, "stdout", "graph", "set", id, "stdout=x");
    expect(4, "999", "graph", "set", "999", "x=1");
    expect(4, "999", "graph", "rm", "999");
    expect(2, "no folder", "graph", "export", "-o", "/nope/x.dot");
    expect(2, "use --format dot", "graph", "export", "-o", "x.svg");
    expect(2, "a folder", "graph", "import", folder.toString());
    expect(2, "there is no file", "graph", "run", "nope.yaml");
    expect(2, "latin is not text", "graph", "run", latin.toString());
    expect(2, "standard input line 1: not YAML", "graph", "run", "-", "}");
    expect(2, "not 'x'", "graph", "run", "-", "nodes: {a: {shell: x}}", "--parent", "x");
    expect(3, "999", "graph", "run", "-", "nodes: {a: {shell: x}}", "--parent", "999");
    for (String command :
        new String[] {"wait", "kill", "retry", "rm", "mv", "set", "output", "import", "run"}) {
      Shell.CommandResult ran = site.run("graph", command);
      assertThat(ran.code()).isEqualTo(2);
      assertThat(ran.err()).contains("Missing required parameter").contains("graph " + command);
    }
  }

  /** The word after a "-" is what is typed. */
  private void expect(int code, String message, String... command) {
    String typed = "";
    String[] words = command;
    if (command.length > 3 && command[2].equals("-")) {
      typed = command[3];
      words = new String[command.length - 1];
      System.arraycopy(command, 0, words, 0, 3);
      System.arraycopy(command, 4, words, 3, command.length - 4);
    }
    Shell.CommandResult ran = site.runReading(typed, words);
    assertThat(ran.err()).startsWith("millrace: ").contains(message).hasLineCount(1);
    assertThat(ran.code()).as(ran.err()).isEqualTo(code);
  }
}
