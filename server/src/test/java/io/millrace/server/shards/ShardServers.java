package io.millrace.server.shards;

import io.millrace.server.MillraceServer;
import io.millrace.server.config.Configuration;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Servers of one process that share a store with four shards in a file. */
final class ShardServers implements AutoCloseable {
  static final int SHARDS = 4;

  private final HttpClient http = HttpClient.newHttpClient();
  private final List<MillraceServer> servers = new ArrayList<>();
  private final Path root;

  /** The headers of reads. */
  private String[] shown = {};

  /** None yet; what they keep is in a folder. */
  ShardServers(Path root) {
    this.root = root;
  }

  /** Lets {@link #json} and what waits for leaders show these headers. */
  ShardServers showing(String... headers) {
    shown = headers;
    return this;
  }

  /** Those that run. */
  List<MillraceServer> all() {
    return List.copyOf(servers);
  }

  /** Ends one of them. */
  void close(MillraceServer server) {
    servers.remove(server);
    server.close();
  }

  @Override
  public void close() {
    servers.forEach(MillraceServer::close);
    http.close();
  }

  /** Nothing else runs in the processes. */
  private static final class Nothing implements MillraceServer.Companion {
    @Override
    public void start(MillraceServer server, MillraceServer.Led led) {}

    @Override
    public void stop(int shard) {}
  }

  /** Starts the first one, and waits until it leads everything. */
  MillraceServer first() throws Exception {
    MillraceServer first = serve();
    awaitLeads(SHARDS);
    first.leads().get(60, TimeUnit.SECONDS);
    return first;
  }

  /** Starts one with more flags and their values. */
  MillraceServer serve(String... more) {
    Map<String, String> flags =
        new HashMap<>(
            Map.of(
                "server.port",
                "0",
                "store.data",
                root.resolve("server-" + servers.size()).toString(),
                "store.url",
                "jdbc:sqlite:" + root.resolve("store.db"),
                "store.shards",
                Integer.toString(SHARDS),
                "store.lease",
                "3s"));
    for (int i = 0; i < more.length; i += 2) {
      flags.put(more[i], more[i + 1]);
    }
    MillraceServer server =
        MillraceServer.start(
            Configuration.read(MillraceServer.SECTIONS, null, flags), null, new Nothing());
    servers.add(server);
    return server;
  }

  static String address(MillraceServer server) {
    return "http://127.0.0.1:" + server.port();
  }

  /** The addresses of all. */
  String addresses() {
    return servers.stream().map(ShardServers::address).collect(Collectors.joining(","));
  }

  HttpResponse<String> send(
      MillraceServer server, String method, String path, String body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(address(server) + path))
            .timeout(Duration.ofSeconds(30))
            .method(method, HttpRequest.BodyPublishers.ofString(body));
    if (headers.length > 0) {
      var _ = request.headers(headers);
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  JsonNode json(MillraceServer server, String path) throws Exception {
    return JsonMapper.shared().readTree(send(server, "GET", path, "", shown).body());
  }

  /**
   * How many shards each server leads, once all are led and every server knows by whom.
   *
   * @throws IllegalStateException if one has stopped by itself
   */
  private List<Integer> leads() throws Exception {
    while (true) {
      List<Integer> counts = new ArrayList<>();
      boolean known = true;
      for (MillraceServer server : servers) {
        if (server.stopped().isDone()) {
          throw new IllegalStateException("a server has stopped", server.stopped().join());
        }
        int count = 0;
        for (JsonNode shard : json(server, "/shards")) {
          boolean led = shard.path("role").asString().equals("leader");
          count += led ? 1 : 0;
          known &= led || shard.path("leader").isString();
        }
        counts.add(count);
      }
      if (known && counts.stream().mapToInt(Integer::intValue).sum() == SHARDS) {
        return counts;
      }
      LockSupport.parkNanos(5_000_000);
    }
  }

  void awaitLeads(Integer... expected) throws Exception {
    while (!leads().stream().sorted().toList().equals(List.of(expected))) {
      LockSupport.parkNanos(5_000_000);
    }
  }
}
