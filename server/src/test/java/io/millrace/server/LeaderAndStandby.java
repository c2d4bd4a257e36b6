package io.millrace.server;

import io.millrace.server.config.Configuration;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A leader and a standby that share a store in a file. */
final class LeaderAndStandby implements AutoCloseable {
  static final String POSITION = "Millrace-Position";
  static final String STALENESS = "Millrace-Staleness";

  private final HttpClient http = HttpClient.newHttpClient();
  private final Path root;
  private final Map<String, String> common;
  final MillraceServer leader;

  /** The server that is asked; tests may put another one in its place. */
  MillraceServer standby;

  private static final class Nothing implements MillraceServer.Companion {
    @Override
    public void start(MillraceServer server, MillraceServer.Led led) {}

    @Override
    public void stop(int shard) {}
  }

  /**
   * Starts both, and waits until the standby knows the leader.
   *
   * @param common flags of both
   */
  LeaderAndStandby(Path root, Map<String, String> common) throws Exception {
    this.root = root;
    this.common = common;
    leader = serve("first");
    leader.leads().get(60, TimeUnit.SECONDS);
    standby = serve("second");
    while (!send(standby, "GET", "/health", "").body().contains("\"leader\":\"")) {
      LockSupport.parkNanos(5_000_000);
    }
  }

  /** Starts another server of the store. */
  MillraceServer serve(String name, String... more) {
    Map<String, String> flags = new HashMap<>(common);
    flags.putAll(
        Map.of(
            "server.port",
            "0",
            "store.data",
            root.resolve(name).toString(),
            "store.url",
            "jdbc:sqlite:" + root.resolve("store.db"),
            "audit.enabled",
            "false"));
    for (int i = 0; i < more.length; i += 2) {
      flags.put(more[i], more[i + 1]);
    }
    return MillraceServer.start(
        Configuration.read(MillraceServer.SECTIONS, null, flags), null, new Nothing());
  }

  HttpResponse<String> send(
      MillraceServer server, String method, String path, String body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .timeout(Duration.ofSeconds(30))
            .method(method, HttpRequest.BodyPublishers.ofString(body));
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  HttpResponse<String> get(MillraceServer server, String path, String... headers)
      throws IOException, InterruptedException {
    return send(server, "GET", path, "", headers);
  }

  static String header(HttpResponse<?> response, String name) {
    return response.headers().firstValue(name).orElseThrow();
  }

  /** The position of the leader. */
  String position() throws IOException, InterruptedException {
    return header(get(leader, "/store/position"), POSITION);
  }

  /** Waits until the standby has all that the leader has, and its clocks agree. */
  String followed() throws IOException, InterruptedException {
    String position = position();
    var _ = sendAfter(position, "GET", "/store/position?stale=10s", "");
    return position;
  }

  /** Asks the standby until it follows, has a position, and its clocks agree. */
  HttpResponse<String> getAfter(String position, String path, String... headers)
      throws IOException, InterruptedException {
    return sendAfter(position, "GET", path, "", headers);
  }

  /** The same with another method. */
  HttpResponse<String> sendAfter(
      String position, String method, String path, String body, String... headers)
      throws IOException, InterruptedException {
    String[] all = List.of(headers).toArray(new String[headers.length + 2]);
    all[headers.length] = POSITION;
    all[headers.length + 1] = position;
    while (true) {
      HttpResponse<String> response = send(standby, method, path, body, all);
      if (response.statusCode() != 307 && response.statusCode() != 503) {
        return response;
      }
      LockSupport.parkNanos(5_000_000);
    }
  }

  @Override
  public void close() {
    standby.close();
    leader.close();
    http.close();
  }
}
