package io.millrace.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.queues.Program;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.store.Bytes;
import io.millrace.store.Owner;
import io.millrace.store.StoreException;
import io.millrace.store.Task;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Transaction;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A server that cannot continue ends, says why, and has lost nothing that it acknowledged. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FailingServerTest {
  private static final Path BUILD = Path.of("..", "build", "java-options");

  private final Path root;
  private final List<Program> programs = new ArrayList<>();
  private URI address = URI.create("http://127.0.0.1");

  FailingServerTest(@TempDir Path root) {
    this.root = root;
  }

  @AfterEach
  void kill() {
    programs.forEach(Program::kill);
  }

  private Program up(List<String> flags, String... more) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("up", "--no-node", "--port", "0", "--data"));
    arguments.add(root.resolve("data").toString());
    arguments.addAll(List.of(more));
    Program.Ready ready = Program.startReady(log(), flags, arguments);
    programs.add(ready.program());
    int from = ready.line().indexOf("http://");
    address = URI.create(ready.line().substring(from, ready.line().indexOf(' ', from)));
    return ready.program();
  }

  private Path log() {
    return root.resolve("up.log");
  }

  private TaskStore connect() {
    return HttpTaskStore.open(ClientOptions.at(address).withRetryFor(Duration.ZERO));
  }

  /** Adds tasks until the server fails; gives the ids that it acknowledged. */
  private List<Long> fill(int bytes) {
    List<Long> acknowledged = new ArrayList<>();
    Bytes data = Bytes.of("x".repeat(bytes));
    try (TaskStore store = connect()) {
      while (true) {
        Transaction add = Transaction.by(Owner.client(1)).add("group", data).build();
        acknowledged.add(store.commit(add).done().tasks().getFirst().id());
      }
    } catch (StoreException e) {
      return acknowledged;
    }
  }

  private void assertAllThere(List<Long> acknowledged) {
    try (TaskStore store = connect()) {
      assertThat(store.group(GroupQuery.all("group")).value())
          .extracting(Task::id)
          .containsAll(acknowledged);
    }
  }

  /** What is written beyond the limit fails, as on a disk that is broken. */
  private static void breakDisk(Program server) throws IOException, InterruptedException {
    ProcessBuilder limit =
        new ProcessBuilder("prlimit", "--fsize=1048576", "--pid", Long.toString(server.pid()));
    assertThat(limit.inheritIO().start().waitFor()).isZero();
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void a_failed_write_ends_the_process_with_a_code_of_its_own() throws Exception {
    Program server = up(List.of());
    breakDisk(server);
    List<Long> acknowledged = fill(10_000);
    assertThat(acknowledged).isNotEmpty();
    assertThat(server.ended()).isEqualTo(ExitCode.STOPPED);
    assertThat(Files.readString(log()))
        .contains("millrace: the store has stopped: the journal failed: ");

    up(List.of());
    assertAllThere(acknowledged);
  }

  /** Sends a request again and again until it fails; the status of the last answer, 0 for none. */
  private int lastStatus(HttpClient client, HttpRequest request) throws InterruptedException {
    while (true) {
      try {
        int status = client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
        if (status >= 300) {
          return status;
        }
      } catch (IOException _) {
        return 0;
      }
    }
  }

  private HttpRequest post(String path, String type, String body) {
    return HttpRequest.newBuilder(address.resolve(path))
        .header("Content-Type", type)
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void whoever_waits_for_a_failed_write_hears_that_the_outcome_is_unknown() throws Exception {
    Program server = up(List.of());
    breakDisk(server);
    String data = "x".repeat(3_000);
    String part = "--b\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n";
    List<HttpRequest> changes =
        List.of(
            post(
                "/store/update",
                "application/json",
                "{\"clientid\":1,\"adds\":[{\"group\":\"g\",\"data\":\"" + data + "\"}]}"),
            post(
                "/api/jobs/submit",
                "multipart/form-data; boundary=b",
                part.formatted("Priority", "batch")
                    + part.formatted("Payload", data)
                    + "--b--\r\n"));
    List<Future<Integer>> statuses = new ArrayList<>();
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 4; i++) {
        changes.forEach(change -> statuses.add(threads.submit(() -> lastStatus(client, change))));
      }
    }
    List<Integer> last = statuses.stream().map(Future::resultNow).toList();
    // Requests after the failure are refused, or find no server.
    assertThat(last).contains(504).allMatch(status -> List.of(504, 503, 0).contains(status));
    assertThat(server.ended()).isEqualTo(ExitCode.STOPPED);
  }

  /** The flags with which the launcher starts what lasts. */
  private static List<String> lastingOptions() throws IOException {
    Process shell =
        new ProcessBuilder("bash", "-c", ". " + BUILD + "; printf '%s\n' \"${lasting_options[@]}\"")
            .start();
    return shell.inputReader().lines().toList();
  }

  @Test
  void a_lack_of_memory_ends_the_process_and_loses_nothing_acknowledged() throws Exception {
    List<String> flags = new ArrayList<>(lastingOptions());
    assertThat(flags).contains("-XX:+ExitOnOutOfMemoryError");
    flags.add("-Xmx48m");
    Program server = up(flags, "--set", "store.memory-budget-bytes=1GiB");
    List<Long> acknowledged = fill(500_000);
    assertThat(acknowledged).isNotEmpty();
    assertThat(server.ended()).isEqualTo(3);

    up(List.of());
    assertAllThere(acknowledged);
  }
}
