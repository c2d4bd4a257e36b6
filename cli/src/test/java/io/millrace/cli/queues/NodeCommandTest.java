package io.millrace.cli.queues;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.Queue;
import io.millrace.queues.Status;
import io.millrace.queues.node.LocalMachine;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The command that runs a node, as a process of its own. */
@Timeout(value = 360, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NodeCommandTest {
  private final Path root;
  private final QueueFixture site;
  private final List<Program> programs = new ArrayList<>();

  NodeCommandTest(@TempDir Path root) {
    this.root = root;
    this.site = new QueueFixture(root.resolve("data"));
  }

  @AfterEach
  void close() throws IOException {
    programs.forEach(Program::kill);
    Program.killAll(root);
    site.close();
  }

  private Path words(String name) {
    return root.resolve(name + ".log");
  }

  private List<String> command(String... options) {
    List<String> command = new ArrayList<>(List.of("node", "--server", site.address()));
    command.addAll(List.of(options));
    return command;
  }

  private Program.Ready ready(String words, String... options) throws IOException {
    Program.Ready ready = Program.startReady(words(words), command(options));
    programs.add(ready.program());
    return ready;
  }

  private NodeRecord record(String name) {
    return site.queues().nodes().find(name).orElseThrow();
  }

  private Queue queue(String name, String plugin) {
    return site.queues().queues().create(name, plugin, Queue.Settings.DEFAULTS.withThreads(1));
  }

  private ObjectId submit(Queue queue, String command) {
    return submit(queue, JsonNodeFactory.instance.objectNode().put("command", command));
  }

  private ObjectId submit(Queue queue, ObjectNode params) {
    return site.queues().submission().submit(queue, List.of(params), Status.QUEUED).getFirst();
  }

  private int status(ObjectId task) {
    return site.queues().tasks().find(task).orElseThrow().status();
  }

  /** What a task wrote, which must succeed. */
  private String output(ObjectId task) {
    Shell.CommandResult waited = site.run("tasks", "wait", task.hex(), "--timeout", "2m");
    assertThat(waited.code()).as(waited.out() + waited.err()).isZero();
    Output output = site.queues().tasks().find(task).orElseThrow().output().stdout();
    return ((Output.Text) output).text();
  }

  @Test
  void it_needs_a_key_for_queues_and_their_output_alone() throws Exception {
    String key = root.resolve("key").toString();
    assertThat(
            site.run(
                    "access",
                    "create",
                    "n",
                    "--role",
                    "operator",
                    "--groups",
                    "queues",
                    "--blobs",
                    "queue-task-",
                    "--key-file",
                    key)
                .code())
        .isZero();
    var _ = ready("node", "--name", "n", "--token-file", key);
    Queue queue = queue("long", "shell");
    ObjectId task = submit(queue, "seq 1 300000; sleep 0.1; seq 1 300000");
    Shell.CommandResult waited = site.run("tasks", "wait", task.hex(), "--timeout", "2m");
    assertThat(waited.code()).as(waited.out() + waited.err()).isZero();
    assertThat(site.run("tasks", "tail", task.hex()).out()).endsWith("\n300000\n");
    assertThat(site.run("audit", "--principal", "n", "--result", "refused", "--json").out().strip())
        .isEqualTo("[]");

    for (String other :
        List.of("queues set long --threads 3", "access list", "graph add --shell true")) {
      String[] words =
          (other + " --server " + site.address() + " --token-file " + key).split(" ", -1);
      assertThat(Shell.run(words).err())
          .as(other)
          .containsAnyOf("does not allow", "not found", "reach");
    }
  }

  @Test
  void its_name_is_that_of_the_machine_and_its_folder_tells_server_and_name() throws Exception {
    String host = LocalMachine.hostName();
    Program.Ready node = ready("node");

    Path folder =
        Path.of(
            "millrace-nodes",
            "127.0.0.1%3a" + URI.create(site.address()).getPort(),
            host.replaceAll("[^A-Za-z0-9._-]", "_"));
    assertThat(node.line())
        .isEqualTo(
            "Millrace node " + host + " serves " + site.address() + " (data in " + folder + ")");
    assertThat(root.resolve(folder)).isDirectory();
    assertThat(record(host).presence()).isNotNull();
    assertThat(node.program().stopped()).isZero();
    assertThat(record(host).presence()).isNull();
  }

  @Test
  void a_second_live_node_of_a_name_waits_and_says_so() throws Exception {
    Program.Ready first = ready("first", "--name", "n", "--data", root.resolve("a").toString());
    String instance = instance("n");
    Program second =
        Program.start(words("second"), command("--name", "n", "-d", root.resolve("b").toString()));
    programs.add(second);
    while (!Files.readString(words("second")).contains("another node is named n already")) {
      assertThat(second.isAlive()).isTrue();
      LockSupport.parkNanos(5_000_000);
    }
    assertThat(second.stopped()).isZero();
    assertThat(instance("n")).isEqualTo(instance);

    CompletableFuture<Program.Ready> third =
        CompletableFuture.supplyAsync(() -> {
          try {
            return ready("third", "--name", "n", "-d", root.resolve("c").toString());
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
    first.program().stop();
    assertThat(third.get(60, TimeUnit.SECONDS).line()).startsWith("Millrace node n serves");
  }

  private String instance(String name) {
    return Objects.requireNonNull(record(name).presence()).instance();
  }

  @Test
  void a_node_that_loses_its_name_ends_with_1() throws Exception {
    Program.Ready node = ready("node", "--name", "n", "--data", root.resolve("a").toString());
    NodeIdentity other = new NodeIdentity("other", "elsewhere", "1 mark", List.of());
    while (site.queues().nodes().take("n", record("n"), other).isEmpty()) {
      LockSupport.parkNanos(5_000_000);
    }
    assertThat(node.program().ended()).isEqualTo(1);
  }

  @Test
  void warm_runners_are_used_again_and_others_are_not() throws Exception {
    Queue queue = queue("q", "shell");
    Program.Ready warm =
        ready("warm", "--name", "n", "-d", root.resolve("a").toString(), "--warm-runners", "1");
    // One may be prepared and another be started, and a result is there before its runner is free.
    assertThat(runnersOfFour(queue)).hasSizeLessThan(4);
    warm.program().stop();

    ready("cold", "--name", "n", "-d", root.resolve("b").toString(), "--warm-runners", "0");
    assertThat(runnersOfFour(queue)).hasSize(4);
  }

  /** Runs four tasks one after the other, and returns the processes that ran them. */
  private Set<String> runnersOfFour(Queue queue) {
    Set<String> runners = new HashSet<>();
    for (int i = 0; i < 4; i++) {
      runners.add(output(submit(queue, "echo $PPID")));
    }
    return runners;
  }

  @Test
  void plugins_come_from_the_folder_named() throws Exception {
    Path plugins = Files.createDirectories(root.resolve("plugins"));
    Path file = plugins.resolve("Echo");
    Files.writeString(file, "#!/bin/sh\ncat\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    ready("node", "-d", root.resolve("a").toString(), "--plugins", plugins.toString());

    assertThat(output(submit(queue("own", "Echo"), "x"))).isEqualTo("{\"command\":\"x\"}");
    var params = JsonNodeFactory.instance.objectNode().put("user1", "ashley").put("commands", "a");
    assertThat(output(submit(queue("old", "Disbatch::Plugin::Demo"), params)))
        .isEqualTo(
            "demo: from ashley to ashley, on %s\nran a\n".formatted(LocalMachine.hostName()));
  }

  @Test
  void a_task_that_runs_goes_on_while_its_node_is_away() throws Exception {
    Path fifo = root.resolve("fifo");
    assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor()).isZero();
    String data = root.resolve("a").toString();
    Program.Ready node = ready("before", "--name", "n", "--data", data);
    ObjectId task = submit(queue("q", "shell"), "echo begun; cat " + fifo);
    while (status(task) != Status.RUNNING) {
      LockSupport.parkNanos(5_000_000);
    }
    assertThat(node.program().stopped()).isZero();
    assertThat(status(task)).isEqualTo(Status.RUNNING);

    ready("after", "--name", "n", "--data", data);
    Files.writeString(fifo, "and ended\n");

    assertThat(output(task)).isEqualTo("begun\nand ended\n");
  }

  @Test
  void a_name_has_at_most_128_characters() {
    Shell.CommandResult ran = Shell.run("node", "--name", "n".repeat(129));
    assertThat(ran.err()).isEqualTo("millrace: --name is longer than 128 characters\n");
    assertThat(ran.code()).isEqualTo(2);
  }

  @Test
  void a_folder_that_cannot_be_is_told_before_the_server_is_asked() {
    Shell.CommandResult ran =
        Shell.run("node", "--data", "/dev/null/x", "--server", "http://127.0.0.1:1");
    assertThat(ran.err())
        .startsWith("millrace: the folder of runners /dev/null/x/runners cannot be used: ")
        .hasLineCount(1);
    assertThat(ran.code()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({
    "--name, '', --name is empty",
    "--name, 6b0250568aa4ca1049000000, --name looks like an id",
    "--warm-runners, -1, --warm-runners is a number from 0",
    "--warm-runners, many, --warm-runners is a number from 0",
    "--warm-runners, 99999999999, --warm-runners is a number from 0",
    "--server, nowhere, the server's address must be like http://host:8048",
    "--token-file, /nowhere/token, cannot read the token file /nowhere/token",
    "--certificates, /nowhere/pem, cannot read the certificates in /nowhere/pem",
    "--plugins, /dev/null, --plugins is not a folder: /dev/null",
    "--nane, x, Did you mean: --name?"
  })
  void what_is_wrong_with_the_command_line_is_told_and_ends_with_2(
      String option, String value, String message) {
    Shell.CommandResult ran = Shell.run("node", option, value);
    assertThat(ran.err()).startsWith("millrace: ").contains(message);
    assertThat(ran.code()).isEqualTo(2);
    assertThat(ran.out()).isEmpty();
  }
}
