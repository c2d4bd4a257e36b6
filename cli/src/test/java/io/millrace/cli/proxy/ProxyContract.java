package io.millrace.cli.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.cli.Shell;
import io.millrace.cli.queues.Program;
import io.millrace.http.transport.Certificates;
import io.millrace.server.MillraceServer;
import io.millrace.server.config.Configuration;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a proxy with the configuration in docs/operations passes on, by TLS. */
@Timeout(120)
abstract class ProxyContract {
  private static final int PAYLOAD_BYTES = 3 << 20;

  @TempDir private Path folder = Path.of("");
  private MillraceServer server;
  private Process proxy;
  private Path certificate;
  private Path token;
  private int port;

  /**
   * What a proxy is started with.
   *
   * @param folder a folder for its files
   * @param port its port on 127.0.0.1
   * @param server the port of Millrace on 127.0.0.1
   */
  record Site(Path folder, int port, int server, Path certificate, Path key) {
    /** A configuration of docs/operations, with the values of this site. */
    String configuration(String name) throws IOException {
      return Files.readString(Path.of("..", "docs", "operations", name))
          .replace("127.0.0.1:8048", "127.0.0.1:" + server);
    }
  }

  /** The program, which is looked for on the path. */
  abstract String program();

  /** Writes the configuration, and returns the command that starts the proxy. */
  abstract List<String> prepare(Site site) throws IOException;

  @BeforeEach
  void start() throws Exception {
    assumeTrue(
        Arrays.stream(System.getenv("PATH").concat(":/usr/sbin").split(":", -1))
            .anyMatch(each -> Files.isExecutable(Path.of(each, program()))),
        program() + " is not installed (Debian: apt install " + program() + ")");
    Certificates certificates = new Certificates(folder);
    certificate = certificates.make("proxy");
    token = Files.writeString(folder.resolve("token"), "secret");
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    server =
        MillraceServer.start(
            Configuration.read(
                MillraceServer.SECTIONS,
                null,
                Map.of(
                    "store.data",
                    folder.resolve("data").toString(),
                    "server.port",
                    "0",
                    "server.token-file",
                    token.toString(),
                    "server.behind-proxy",
                    "127.0.0.1",
                    "server.origins",
                    "https://127.0.0.1:" + port)));
    Site site =
        new Site(
            Files.createDirectory(folder.resolve("proxy")),
            port,
            server.port(),
            certificate,
            certificates.key("proxy"));
    ProcessBuilder builder = new ProcessBuilder(prepare(site)).redirectErrorStream(true);
    builder.environment().put("HOME", site.folder().toString());
    builder.environment().put("PATH", System.getenv("PATH") + ":/usr/sbin");
    proxy = builder.redirectOutput(folder.resolve("proxy.log").toFile()).start();
    awaitProxy();
  }

  private void awaitProxy() throws Exception {
    long deadlineNanos = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    while (true) {
      try (HttpClient client = client("127.0.0.1")) {
        client.send(request("/health").build(), BodyHandlers.discarding());
        return;
      } catch (ConnectException e) {
        assertThat(proxy.isAlive() && System.nanoTime() < deadlineNanos)
            .as(Files.readString(folder.resolve("proxy.log")))
            .isTrue();
        LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
      }
    }
  }

  @AfterEach
  void stop() throws InterruptedException {
    if (proxy != null) {
      proxy.destroyForcibly().waitFor();
    }
    if (server != null) {
      server.close();
    }
  }

  private HttpClient client(String from) throws Exception {
    return HttpClient.newBuilder()
        .sslContext(Certificates.trusting(certificate))
        .localAddress(InetAddress.getByName(from))
        .build();
  }

  private String address(String path) {
    return "https://127.0.0.1:" + port + path;
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(address(path)))
        .header("Authorization", "Bearer secret");
  }

  private List<String> connection(String path) {
    return List.of(
        "--server", address(path),
        "--certificates", certificate.toString(),
        "--token-file", token.toString());
  }

  private String command(String path, String... words) {
    List<String> all = new ArrayList<>(List.of(words));
    all.addAll(connection(path));
    Shell.CommandResult ran = Shell.run(all.toArray(String[]::new));
    assertThat(ran.code()).as(ran.err()).isZero();
    return ran.out();
  }

  @Test
  void commands_and_the_dashboard_work_at_the_root_and_below_a_path() throws Exception {
    command("", "queues", "create", "one", "--plugin", "shell");
    command("/queue", "queues", "create", "two", "--plugin", "shell");
    assertThat(command("/queue", "queues", "list")).contains("one", "two");
    try (HttpClient client = client("127.0.0.1")) {
      for (String path : List.of("/", "/queue/")) {
        HttpResponse<String> page =
            client.send(
                request(path).header("Accept", "text/html").build(), BodyHandlers.ofString());
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.body()).contains("<title>Millrace");
      }
    }
  }

  @Test
  void an_event_arrives_while_its_stream_is_open() throws Exception {
    HttpClient client = client("127.0.0.1");
    try {
      var response =
          client.send(
              request("/queue/store/changes?group=map").build(), BodyHandlers.ofInputStream());
      assertThat(response.statusCode()).isEqualTo(200);
      CompletableFuture<String> event =
          CompletableFuture.supplyAsync(() -> firstWith("\"map\"", response.body()));
      command("", "store", "add", "map", "hello");
      assertThat(event.get(20, TimeUnit.SECONDS)).startsWith("data:");
    } finally {
      // To close it would wait for the end of the stream.
      client.shutdownNow();
    }
  }

  private static String firstWith(String text, InputStream stream) {
    return new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))
        .lines()
        .filter(line -> line.contains(text))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void a_worker_takes_a_large_payload_by_websocket() throws Exception {
    Path payload = Files.write(folder.resolve("payload"), new byte[PAYLOAD_BYTES]);
    List<String> words = new ArrayList<>(List.of("worker"));
    words.addAll(connection("/queue"));
    words.addAll(List.of("--", "wc", "-c"));
    Program.Ready worker = Program.startReady(folder.resolve("worker.log"), words);
    try {
      assertThat(command("", "jobs", "submit", payload.toString(), "--output", "-").strip())
          .isEqualTo(Integer.toString(PAYLOAD_BYTES));
    } finally {
      worker.program().stop();
    }
  }

  @Test
  void the_audit_log_has_the_address_of_the_client_whatever_it_claims() throws Exception {
    try (HttpClient client = client("127.0.0.2")) {
      HttpRequest create =
          request("/dci/queues")
              .header("X-Forwarded-For", "203.0.113.9")
              .POST(BodyPublishers.ofString("{\"name\": \"three\", \"plugin\": \"shell\"}"))
              .build();
      assertThat(client.send(create, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
    }
    assertThat(command("", "audit", "--id", "three", "--json"))
        .contains("127.0.0.2")
        .doesNotContain("203.0.113.9");
  }
}
