package io.millrace.graph.type;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.blobs.Tail;
import io.millrace.graph.Kill;
import io.millrace.graph.NodeId;
import io.millrace.processes.ProcessLauncher;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Waiting, with pauses that end when the test says so. */
class WaitForTest {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final BlockingQueue<Pause> pauses = new LinkedBlockingQueue<>();
  private final Path root;
  private final StandardTypes types;
  private final NodeType waitFor;
  private Instant now = Instant.parse("2030-01-31T08:00:00Z");

  private record Pause(Duration length, Runnable task) {}

  WaitForTest(@TempDir Path root) {
    this.root = root;
    this.types =
        new StandardTypes(
            ProcessLauncher.create(),
            () -> now,
            (length, task) -> pauses.add(new Pause(length, task)));
    this.waitFor =
        types.types().stream()
            .filter(type -> type.name().equals("wait for"))
            .findFirst()
            .orElseThrow();
  }

  @AfterEach
  void close() {
    types.close();
  }

  @Test
  void a_file_is_looked_for_at_growing_pauses() throws IOException, InterruptedException {
    Attempt attempt = start("{\"file\": \"%s/there\", \"interval\": 0.3}".formatted(root));
    for (long millis : new long[] {50, 100, 200, 300, 300}) {
      assertThat(pass()).isEqualTo(Duration.ofMillis(millis));
    }
    assertThat(attempt.onEnd().isDone()).isFalse();

    Files.createFile(root.resolve("there"));
    pass();

    assertThat(attempt.onEnd().join().failure()).isNull();
    assertThat(pauses).isEmpty();
  }

  @Test
  void a_port_is_asked_until_somebody_answers() throws IOException, InterruptedException {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
      Attempt open = start("{\"port\": \"localhost:%d\"}".formatted(port));
      assertThat(open.onEnd().join().failure()).isNull();
    }
    Attempt closed = start("{\"port\": \"127.0.0.1:%d\"}".formatted(port));
    assertThat(closed.onEnd().isDone()).isFalse();
    closed.kill(Kill.DEFAULT);
    pass();

    assertThat(closed.onEnd().join().failure()).asString().contains("ended while it waited");
    assertThat(pauses).isEmpty();
  }

  @Test
  void a_time_is_waited_for_by_the_clock_that_may_be_set() throws InterruptedException {
    Attempt attempt = start("{\"time\": \"2030-01-31T09:01:30+01:00\"}");
    assertThat(pass()).isEqualTo(Duration.ofMinutes(1));
    now = Instant.parse("2030-01-31T08:01:00Z");
    assertThat(pass()).isEqualTo(Duration.ofMinutes(1));
    assertThat(pass()).isEqualTo(Duration.ofSeconds(30));
    now = Instant.parse("2030-01-31T08:01:30Z");
    pass();

    assertThat(attempt.onEnd().join().failure()).isNull();
    assertThat(start("{\"time\": 1}").onEnd().join().failure()).isNull();
  }

  @Test
  void a_program_is_tried_until_it_succeeds_and_its_last_output_stays()
      throws InterruptedException {
    Attempt attempt =
        start(
            """
            {"shell": "echo x >>tries; wc -l <tries; [ $(wc -l <tries) = 3 ]", "cwd": "%s"}\
            """
                .formatted(root));
    Tail output = Objects.requireNonNull(attempt.recordings().get("mixedout"));
    assertThat(pass()).isEqualTo(Duration.ofSeconds(5));
    assertThat(pass()).isEqualTo(Duration.ofSeconds(5));

    assertThat(attempt.onEnd().join().failure()).isNull();
    assertThat(new String(output.read(0, 100), StandardCharsets.UTF_8)).isEqualTo("3\n");
  }

  @Test
  void a_try_is_killed_with_the_node_and_no_other_begins() {
    Attempt attempt = start("{\"command\": \"sleep\", \"args\": [\"1000\"]}");

    attempt.kill(Kill.DEFAULT);

    assertThat(attempt.onEnd().join().failure()).asString().contains("ended while it waited");
  }

  @Test
  void a_program_that_is_not_there_will_not_come() {
    assertThat(start("{\"command\": \"no-such-program\"}").onEnd().join().failure())
        .asString()
        .contains("no-such-program");
  }

  @Test
  void a_try_that_an_earlier_server_began_is_found() throws IOException, InterruptedException {
    Path gate = root.resolve("gate");
    assertThat(new ProcessBuilder("mkfifo", gate.toString()).start().onExit().join().exitValue())
        .isZero();
    String data = "{\"shell\": \"read x <%s; echo done\"}".formatted(gate);
    start(data);

    Attempt found = waitFor.resume(work(data)).orElseThrow();
    Files.writeString(gate, "go\n");

    assertThat(found.onEnd().join().failure()).isNull();
    assertThat(Objects.requireNonNull(found.recordings().get("mixedout")).size()).isEqualTo(5);
  }

  @Test
  void closing_ends_the_looking() throws InterruptedException, IOException {
    Attempt attempt = start("{\"file\": \"%s/there\"}".formatted(root));
    types.close();
    Files.createFile(root.resolve("there"));
    pass();

    assertThat(attempt.onEnd().isDone()).isFalse();
  }

  private Duration pass() throws InterruptedException {
    Pause pause = pauses.take();
    pause.task().run();
    return pause.length();
  }

  private Attempt start(String data) {
    AttemptContext work = work(data);
    waitFor.check(work.inputs());
    return waitFor.start(work);
  }

  private AttemptContext work(String data) {
    Map<String, JsonNode> values = new HashMap<>();
    JSON.readTree(data)
        .properties()
        .forEach(property -> values.put(property.getKey(), property.getValue()));
    return new AttemptContext(new NodeId(1), 1, values, root.resolve("work"), Map.of());
  }
}
