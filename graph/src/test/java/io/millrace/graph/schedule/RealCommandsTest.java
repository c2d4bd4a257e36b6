package io.millrace.graph.schedule;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.graph.GraphForms;
import io.millrace.graph.Kill;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import io.millrace.graph.type.NodeTypes;
import io.millrace.graph.type.StandardTypes;
import io.millrace.processes.FileTree;
import io.millrace.processes.ProcessLauncher;
import io.millrace.processes.RunningProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Real programs under a scheduler with a thread of its own. */
class RealCommandsTest {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final ProcessLauncher launcher = ProcessLauncher.create();
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  private final StandardTypes types = new StandardTypes(launcher);
  private final MemoryGraph graph =
      new MemoryGraph(
          InstantSource.system()::millis,
          name -> new NodeTypes(types.types()).find(name).orElseThrow().kind());
  private final Path root;
  private GraphScheduler driver;

  RealCommandsTest(@TempDir Path root) {
    this.root = root;
    this.driver = drive();
  }

  private GraphScheduler drive() {
    SchedulerContext context =
        new SchedulerContext(
            launcher,
            (id, attempt) -> Map.of("MILLRACE_URL", "http://x/" + id),
            executor,
            new Random(1));
    GraphScheduler scheduler =
        new GraphScheduler(
            graph,
            new NodeTypes(types.types()),
            new SchedulerOptions(root.resolve("scheduler"), 4, 10),
            context);
    return scheduler.start(InstantSource.system());
  }

  @AfterEach
  void close() {
    driver.close();
    types.close();
    executor.close();
  }

  @Test
  void a_command_gives_its_result_and_all_its_output() {
    NodeId id =
        add(
            "command",
            """
            {"command": "sh", "args": ["-c", "cat; echo $GREETING $MILLRACE_NODE_ID \
            $MILLRACE_ATTEMPT $MILLRACE_URL; pwd; echo error >&2"],
             "env": {"GREETING": "hello", "MILLRACE_NODE_ID": "7"}, "cwd": "/", "stdin": "given "}
            """);

    assertThat(end(id)).isEqualTo(NodeState.FINISHED);
    assertThat(graph.value(id, "result").intValue()).isZero();
    assertThat(graph.value(id, "stdout").asString())
        .isEqualTo("given hello " + id + " 1 http://x/" + id + "\n/\n");
    assertThat(graph.value(id, "stderr").asString()).isEqualTo("error\n");
    assertThat(graph.value(id, "mixedout").asString()).contains("given", "error");
  }

  @Test
  void a_program_says_in_its_status_file_when_it_is_to_run_again() {
    String script =
        "[ $MILLRACE_ATTEMPT = 1 ] && echo snooze 10ms > $MILLRACE_STATUS_FILE;"
            + " [ $MILLRACE_ATTEMPT = 2 ] && echo 2 20ms > $MILLRACE_STATUS_FILE; exit 75";
    NodeId id =
        add(
            "shell command",
            "{\"command\": \"%s\", \"attempts\": 2, \"retry_delay\": \"10ms\"}".formatted(script));
    NodeId wrong =
        add("shell command", "{\"command\": \"echo 7 > $MILLRACE_STATUS_FILE\", \"attempts\": 1}");

    assertThat(end(wrong)).isEqualTo(NodeState.FAILED);
    assertThat(graph.reason(wrong)).contains("the status file says \"7\"");
    assertThat(end(id)).isEqualTo(NodeState.FAILED);
    Phase.Attempts attempts = graph.node(id).phase().attempts();
    assertThat(attempts.number()).isEqualTo(3);
    assertThat(attempts.counted()).isEqualTo(2);
    assertThat(attempts.snoozed()).isEqualTo(1);
    assertThat(graph.reason(id)).isEqualTo("exit code 75");
  }

  @Test
  void a_script_runs_in_bash_also_when_it_begins_with_a_dash() {
    NodeId id = add("shell command", "{\"command\": \"[[ a == a ]] && echo $BASH\"}");
    NodeId dash = add("shell command", "{\"command\": \"-x; exit 3\"}");

    assertThat(end(id)).isEqualTo(NodeState.FINISHED);
    assertThat(graph.value(id, "stdout").asString()).contains("bash");
    assertThat(end(dash)).isEqualTo(NodeState.FAILED);
    assertThat(graph.reason(dash)).isEqualTo("exit code 3");
    assertThat(graph.value(dash, "result").intValue()).isEqualTo(3);
  }

  @Test
  void a_program_that_is_not_there_fails_with_the_reason() {
    NodeId id = add("command", "{\"command\": \"no-such-program\"}");
    NodeId nowhere = add("command", "{\"command\": \"true\", \"cwd\": \"/no/such/folder\"}");

    assertThat(end(id)).isEqualTo(NodeState.FAILED);
    assertThat(graph.reason(id)).contains("no-such-program").contains("not found");
    assertThat(end(nowhere)).isEqualTo(NodeState.FAILED);
    assertThat(graph.reason(nowhere)).contains("/no/such/folder");
  }

  @Test
  void a_failed_command_is_tried_again_until_it_succeeds() {
    String script = "echo x >>tries; [ $(wc -l <tries) -ge 3 ]";
    NodeId id =
        add(
            "shell command",
            "{\"command\": \"%s\", \"cwd\": \"%s\", \"retries\": 5, \"backoff\": 0.001}"
                .formatted(script, root));

    assertThat(end(id)).isEqualTo(NodeState.FINISHED);
    assertThat(graph.node(id).phase().attempt()).isEqualTo(3);
  }

  @Test
  void a_command_that_takes_too_long_is_ended() {
    NodeId id = add("command", "{\"command\": \"sleep\", \"args\": [\"1000\"], \"timeout\": 0.05}");

    assertThat(end(id)).isEqualTo(NodeState.FAILED);
    assertThat(graph.reason(id)).isEqualTo("timed out after 0.05 s");
  }

  @Test
  void a_kill_sends_its_signal_and_then_ends_the_group() throws IOException {
    Path ready = fifo("ready");
    NodeId id =
        add(
            "shell command",
            """
            {"command": "trap 'echo interrupted' INT; sh -c 'trap \\"\\" INT; echo $$ >%s; \
            while :; do sleep 1000; done' & wait; wait"}\
            """
                .formatted(ready));
    long grandchild = Long.parseLong(Files.readString(ready).strip());

    graph.kill(id, new Kill("INT", Duration.ofSeconds(2)));

    assertThat(end(id)).isEqualTo(NodeState.KILLED);
    assertThat(graph.reason(id)).isEqualTo("it outlived INT and was killed");
    assertThat(graph.value(id, "stdout").asString()).isEqualTo("interrupted\n");
    assertThat(graph.value(id, "result").intValue()).isEqualTo(137);
    // Sent a KILL, which it may still be dying of.
    ProcessHandle.of(grandchild).ifPresent(handle -> handle.onExit().join());
  }

  @Test
  void a_program_that_heeds_the_signal_and_a_wait_that_hears_none_say_so() throws IOException {
    Path ready = fifo("ready");
    NodeId id =
        add("shell command", "{\"command\": \"echo >%s; exec sleep 1000\"}".formatted(ready));
    Files.readString(ready);
    graph.kill(id, new Kill("HUP", Duration.ofSeconds(60)));
    NodeId wait = add("wait for", "{\"file\": \"/no/such/file\"}");
    while (graph.state(wait) != NodeState.RUNNING) {
      LockSupport.parkNanos(5_000_000);
    }
    graph.kill(wait, Kill.DEFAULT);

    assertThat(end(id)).isEqualTo(NodeState.KILLED);
    assertThat(graph.reason(id)).isEqualTo("it was killed by HUP");
    assertThat(graph.value(id, "result").intValue()).isEqualTo(129);
    assertThat(end(wait)).isEqualTo(NodeState.KILLED);
    assertThat(graph.reason(wait)).isEqualTo("it was killed");
  }

  @Test
  void output_is_read_while_it_grows_and_the_folder_goes_with_the_end() throws IOException {
    Path gate = fifo("gate");
    Path ready = fifo("ready");
    NodeId id =
        add(
            "shell command",
            """
            {"command": "echo first; until [ -s %s/stdout ]; do sleep 0.01; done; echo >%s; \
            read <%s; echo last"}\
            """
                .formatted(root.resolve("scheduler/1.1"), ready, gate));
    Files.readString(ready);

    String growing = graph.growing(id, "stdout");
    while (growing.isEmpty()) {
      // The command may be ahead of the scheduler, which notes its start only afterwards.
      LockSupport.parkNanos(1_000_000);
      growing = graph.growing(id, "stdout");
    }
    assertThat(growing).isEqualTo("first\n");
    Files.writeString(gate, "go\n");

    assertThat(end(id)).isEqualTo(NodeState.FINISHED);
    assertThat(graph.value(id, "stdout").asString()).isEqualTo("first\nlast\n");
  }

  @Test
  void the_folder_of_a_program_that_is_over_becomes_that_of_the_next() throws IOException {
    Path folder = root.resolve("scheduler/1.1");
    Path gate = fifo("gate");
    Path ready = fifo("ready");
    NodeId first =
        add("shell command", "{\"command\": \"echo first; echo >&2; read <%s\"}".formatted(ready));
    Files.writeString(ready, "go\n");
    assertThat(end(first)).isEqualTo(NodeState.FINISHED);
    while (!FileTree.entries(folder).isEmpty()) {
      LockSupport.parkNanos(5_000_000);
    }
    assumeTrue(Files.exists(folder), "perl is not installed");
    Object inode = Files.getAttribute(folder, "unix:ino");
    NodeId second =
        add(
            "shell command",
            "{\"command\": \"echo second; echo >%s; read <%s; exit 3\"}".formatted(ready, gate));
    Files.readString(ready);

    Path other = root.resolve("scheduler/2.1");
    assertThat(Files.getAttribute(other, "unix:ino")).isEqualTo(inode);
    assertThat(folder).doesNotExist();
    restart();
    Files.writeString(gate, "go\n");
    assertThat(end(second)).isEqualTo(NodeState.FAILED);
    assertThat(graph.value(second, "stdout").asString()).isEqualTo("second\n");
    assertThat(graph.value(second, "stderr").asString()).isEmpty();
    assertThat(graph.value(second, "result").intValue()).isEqualTo(3);
  }

  @Test
  void a_folder_into_which_something_may_still_write_is_not_used_again() throws IOException {
    Path ready = fifo("ready");
    NodeId id =
        add("shell command", "{\"command\": \"sleep 1000 & echo $! >%s\"}".formatted(ready));
    long left = Long.parseLong(Files.readString(ready).strip());

    assertThat(end(id)).isEqualTo(NodeState.FINISHED);
    while (Files.exists(root.resolve("scheduler/1.1.begun"))) {
      LockSupport.parkNanos(5_000_000);
    }
    assertThat(root.resolve("scheduler/1.1")).doesNotExist();
    ProcessHandle.of(left).ifPresent(ProcessHandle::destroyForcibly);
  }

  @Test
  void mixed_output_has_both_streams_in_the_order_in_which_they_arrived() {
    Path mixed = root.resolve("scheduler/1.1/mixed");
    NodeId id =
        add(
            "shell command",
            """
            {"command": "until_there() { until grep -qs $1 %s; do sleep 0.01; done; };             for i in 1 2 3 4 5; do echo out$i; until_there out$i;             echo err$i >&2; until_there err$i; done"}\
            """
                .formatted(mixed));

    assertThat(end(id)).isEqualTo(NodeState.FINISHED);
    assertThat(graph.value(id, "mixedout").asString())
        .isEqualTo("out1\nerr1\nout2\nerr2\nout3\nerr3\nout4\nerr4\nout5\nerr5\n");
    assertThat(graph.value(id, "stderr").asString()).isEqualTo("err1\nerr2\nerr3\nerr4\nerr5\n");
  }

  @Test
  void a_command_outlives_its_scheduler_and_is_found_by_the_next() throws IOException {
    Path gate = fifo("gate");
    Path ready = fifo("ready");
    NodeId id =
        add(
            "shell command",
            "{\"command\": \"echo >%s; read <%s; echo after; exit 4\"}".formatted(ready, gate));
    Files.readString(ready);
    restart();
    Files.writeString(gate, "go\n");

    assertThat(end(id)).isEqualTo(NodeState.FAILED);
    assertThat(graph.reason(id)).isEqualTo("exit code 4");
    assertThat(graph.value(id, "stdout").asString()).isEqualTo("after\n");
  }

  @Test
  void a_command_that_ends_while_no_scheduler_is_there_keeps_its_end() throws IOException {
    Path gate = fifo("gate");
    Path ready = fifo("ready");
    String script = "echo >%s; read <%s; echo alone; exit 5".formatted(ready, gate);
    NodeId id = add("shell command", "{\"command\": \"%s\"}".formatted(script));
    Files.readString(ready);
    RunningProcess process = launcher.find(root.resolve("scheduler/1.1")).orElseThrow();
    driver.close();
    Files.writeString(gate, "go\n");
    process.onExit().join();
    // The first scheduler hears of it too, and does nothing about it.
    assertThat(graph.state(id)).isEqualTo(NodeState.RUNNING);
    restart();

    assertThat(end(id)).isEqualTo(NodeState.FAILED);
    assertThat(graph.reason(id)).isEqualTo("exit code 5");
    assertThat(graph.value(id, "stdout").asString()).isEqualTo("alone\n");
  }

  @Test
  void a_command_whose_files_are_gone_has_failed_or_is_tried_again() throws IOException {
    Path ready = fifo("ready");
    String script = "[ $MILLRACE_ATTEMPT = 2 ] && exit; echo >%s; sleep 1000".formatted(ready);
    NodeId id = add("shell command", "{\"command\": \"%s\", \"retries\": 1}".formatted(script));
    Files.readString(ready);
    Path folder = root.resolve("scheduler/1.1");
    RunningProcess process = launcher.find(folder).orElseThrow();
    driver.close();
    process.terminate(Duration.ZERO).join();
    FileTree.remove(folder);
    restart();

    assertThat(end(id)).isEqualTo(NodeState.FINISHED);
    assertThat(graph.node(id).phase().attempt()).isEqualTo(2);
  }

  @Test
  void a_condition_chooses_by_a_program_or_a_file() throws IOException {
    Files.createFile(root.resolve("there"));
    NodeId yes = add("condition", "{\"shell\": \"exit 0\"}");
    NodeId no = add("condition", "{\"command\": \"false\"}");
    NodeId neither = add("condition", "{\"shell\": \"exit 2\"}");
    NodeId file = add("condition", "{\"file\": \"%s/there\"}".formatted(root));

    assertThat(end(yes)).isEqualTo(NodeState.FINISHED);
    assertThat(graph.node(yes).phase().toString()).contains("taken=THEN");
    assertThat(end(no)).isEqualTo(NodeState.FINISHED);
    assertThat(graph.node(no).phase().toString()).contains("taken=ELSE");
    assertThat(end(neither)).isEqualTo(NodeState.FAILED);
    assertThat(graph.reason(neither)).isEqualTo("exit code 2, neither 0 nor 1");
    assertThat(end(file)).isEqualTo(NodeState.FINISHED);
    assertThat(graph.node(file).phase().toString()).contains("taken=THEN");
  }

  private void restart() {
    driver.close();
    graph.forgetListeners();
    driver = drive();
  }

  private Path fifo(String name) throws IOException {
    Path path = root.resolve(name);
    Process process = new ProcessBuilder("mkfifo", path.toString()).start();
    assertThat(process.onExit().join().exitValue()).isZero();
    return path;
  }

  private NodeState end(NodeId id) {
    return graph.onEnd(id).join();
  }

  private NodeId add(String type, String data, NodeId... parents) {
    Map<String, JsonNode> values = new HashMap<>();
    JSON.readTree(data.getBytes(UTF_8))
        .properties()
        .forEach(property -> values.put(property.getKey(), property.getValue()));
    new NodeTypes(types.types()).find(type).orElseThrow().check(values);
    NewNode.Place place = GraphForms.below(parents);
    return graph.add(new NewNode(null, null, type, place, false, values));
  }
}
