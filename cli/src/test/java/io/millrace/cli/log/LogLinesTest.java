package io.millrace.cli.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.queues.Program;
import io.millrace.cli.queues.Program.Ready;
import io.millrace.cli.terminal.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What processes log of their start and stop. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LogLinesTest {
  private static final Map<String, String> JSON = Map.of("MILLRACE_LOG_FORMAT", "json");

  private final Path root;
  private final List<Program> programs = new ArrayList<>();

  LogLinesTest(@TempDir Path root) {
    this.root = root;
  }

  @AfterEach
  void kill() {
    programs.forEach(Program::kill);
  }

  private Path log(String name) {
    return root.resolve(name + ".log");
  }

  private Ready start(String log, Map<String, String> environment, String... arguments)
      throws IOException {
    Ready ready = Program.startReady(log(log), environment, List.of(arguments));
    programs.add(ready.program());
    return ready;
  }

  private Ready up(Map<String, String> environment, String... more) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("up", "--no-node", "--port", "0", "--data"));
    arguments.add(root.resolve("data").toString());
    arguments.addAll(List.of(more));
    return start("up", environment, arguments.toArray(String[]::new));
  }

  private static String address(Ready server) {
    int from = server.line().indexOf("http://");
    return server.line().substring(from, server.line().indexOf(' ', from));
  }

  /** The messages of a log, all of whose lines are JSON. */
  private List<String> messages(String log) throws IOException {
    List<String> messages = new ArrayList<>();
    for (String line : Files.readAllLines(log(log))) {
      JsonNode json = JsonMapper.shared().readTree(line);
      assertThat(OffsetDateTime.parse(json.path("time").asString())).isNotNull();
      assertThat(json.path("level").asString()).as(line).isNotEmpty();
      messages.add(json.path("message").asString());
    }
    return messages;
  }

  private static void assertStartAndStop(List<String> lines, String name) {
    assertThat(lines.getFirst()).contains("starting " + name + ": version ");
    assertThat(lines.getLast()).endsWith("stopped " + name + " with exit code 0");
    assertThat(lines).filteredOn(line -> line.contains("starting " + name)).hasSize(1);
    assertThat(lines).filteredOn(line -> line.endsWith("stopping " + name)).hasSize(1);
  }

  @Test
  void lines_begin_with_the_time_and_its_zone() throws Exception {
    assertThat(up(Map.of()).program().stopped()).isEqualTo(ExitCode.OK);
    List<String> lines = Files.readAllLines(log("up"));
    assertStartAndStop(lines, "server");
    assertThat(lines)
        .allSatisfy(line -> {
          int end = line.indexOf(' ');
          assertThat(OffsetDateTime.parse(line.substring(0, end))).isNotNull();
          assertThat(line.substring(end)).matches(" (INFO |WARN ) [A-Za-z]+: .+");
        });
  }

  @Test
  void a_server_logs_json_if_its_configuration_says_so() throws Exception {
    assertThat(up(Map.of(), "--set", "log.format=json").program().stopped()).isEqualTo(ExitCode.OK);
    assertStartAndStop(messages("up"), "server");
  }

  @Test
  void every_process_logs_json_if_its_environment_says_so() throws Exception {
    Ready server = up(JSON);
    String address = address(server);
    Ready node =
        start("node", JSON, "node", "--server", address, "--name", "n1", "--data", "node-data");
    Ready worker =
        start("worker", JSON, "worker", "--server", address, "--name", "w1", "--", "cat");
    assertThat(worker.program().stopped()).isEqualTo(ExitCode.OK);
    assertThat(node.program().stopped()).isEqualTo(ExitCode.OK);
    assertThat(server.program().stopped()).isEqualTo(ExitCode.OK);
    assertStartAndStop(messages("worker"), "worker w1");
    assertStartAndStop(messages("node"), "node n1");
    assertStartAndStop(messages("up"), "server");
    assertThat(Files.readAllLines(log("node"))).anyMatch(line -> line.contains("\"node\":\"n1\""));
  }

  @Test
  void an_unknown_format_is_refused() throws Exception {
    Program program =
        Program.start(log("up"), Map.of("MILLRACE_LOG_FORMAT", "xml"), List.of("up", "--no-node"));
    programs.add(program);
    assertThat(program.ended()).isEqualTo(ExitCode.USAGE);
    assertThat(Files.readString(log("up")))
        .isEqualTo("millrace: MILLRACE_LOG_FORMAT is text or json, not 'xml'\n");
  }
}
