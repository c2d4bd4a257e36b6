package io.millrace.server.shards;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.millrace.http.AccessCheck;
import io.millrace.http.ErrorResponses;
import io.millrace.http.HttpLimits;
import io.millrace.http.HttpServer;
import io.millrace.http.Routes;
import io.millrace.http.json.Json;
import io.millrace.server.MillraceServer;
import io.millrace.server.config.Configuration;
import io.millrace.server.security.ProxySettings;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StandbyStore;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Servers with systems of their own as shards of one. Apostrophes stand for quotation marks. */
abstract class SeparateServers {
  static final Duration PATIENCE = Duration.ofSeconds(20);

  @TempDir Path root;
  private final HttpClient http = HttpClient.newHttpClient();
  private final List<MillraceServer> servers = new ArrayList<>();
  final List<String> addresses = new ArrayList<>();
  final List<AutoCloseable> open = new CopyOnWriteArrayList<>();
  String front = "";
  final AtomicInteger pauses = new AtomicInteger();

  /** What happens while a request looks for a leader for the n-th time. */
  IntConsumer onPause = _ -> {};

  /** The connections to servers that answer with a fixed text. */
  final AtomicInteger connections = new AtomicInteger();

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : open.reversed()) {
      each.close();
    }
    http.close();
  }

  /** A shard that a server at some address leads, or none. */
  static final class Led implements ShardedStore.Shard {
    volatile @Nullable String leader;

    Led(@Nullable String leader) {
      this.leader = leader;
    }

    @Override
    public @Nullable String leader() {
      return leader;
    }

    @Override
    public @Nullable EmbeddedTaskStore led() {
      return null;
    }

    @Override
    public @Nullable StandbyStore following() {
      return null;
    }

    @Override
    public boolean handOver(String to) {
      return false;
    }
  }

  final MillraceServer server(String... more) {
    Map<String, String> flags =
        new HashMap<>(
            Map.of(
                "server.port",
                "0",
                "store.data",
                root.resolve("server-" + servers.size()).toString(),
                "jobs.types.parse.description",
                "first",
                "jobs.types.print.settings",
                "attempts=5",
                "jobs.batch-size",
                "3"));
    for (int i = 0; i < more.length; i += 2) {
      flags.put(more[i], more[i + 1]);
    }
    MillraceServer server =
        MillraceServer.start(Configuration.read(MillraceServer.SECTIONS, null, flags));
    servers.add(server);
    addresses.add("http://127.0.0.1:" + server.port());
    open.add(server);
    return server;
  }

  final ShardRequests requests(List<? extends ShardedStore.Shard> shards) {
    LeaderRequests.Sending sending =
        new LeaderRequests.Sending(
            http, ProxySettings.NONE, () -> onPause.accept(pauses.incrementAndGet()));
    return new ShardRequests(new LeaderRequests(sending, shards, () -> null, _ -> ""));
  }

  /** A server that asks these leaders of shards for what concerns all of them. */
  final void front(
      Duration patience, AccessCheck access, List<? extends ShardedStore.Shard> shards) {
    AllShards all = new AllShards(requests(shards), patience);
    Routes routes = new Routes(new SimpleMeterRegistry());
    routes.addAll(
        servers.getFirst().routes().stream()
            .filter(route -> AllShards.all().contains(route.method() + " " + route.path()))
            .map(route ->
                route.withHandler(request -> all.answer(request, route.method(), route.path())))
            .toList());
    serve(access, routes);
  }

  final void serve(AccessCheck access, Routes routes) {
    HttpServer started =
        HttpServer.start(
            InetAddress.getLoopbackAddress(),
            0,
            HttpLimits.DEFAULT,
            access,
            routes,
            new ErrorResponses());
    open.add(started::stop);
    front = "http://127.0.0.1:" + started.port();
  }

  /** The same, which everybody may ask. */
  final void front(Led... shards) {
    front(PATIENCE, AccessCheck.OPEN, List.of(shards));
  }

  /** The same for all servers. */
  final void front() {
    front(addresses.stream().map(Led::new).toArray(Led[]::new));
  }

  final HttpResponse<String> send(
      String address, String method, String target, String body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(address + target))
            .method(method, BodyPublishers.ofString(body.replace('\'', '"')));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return http.send(request.build(), BodyHandlers.ofString());
  }

  private static JsonNode json(HttpResponse<String> response) {
    return Json.read(response.body().getBytes(StandardCharsets.UTF_8));
  }

  final JsonNode ok(String address, String method, String target, String body, String... headers)
      throws IOException, InterruptedException {
    HttpResponse<String> response = send(address, method, target, body, headers);
    assertThat(response.statusCode()).as(target + ": " + response.body()).isBetween(200, 299);
    return json(response);
  }

  /** The address of a server that answers each connection with this text, and closes it. */
  final String broken(String text) throws IOException {
    // Unless it says so, a client may send its next request on what is being closed.
    String answer = text.replaceFirst("\r\n", "\r\nConnection: close\r\n");
    ServerSocket listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    open.add(listener);
    Thread.ofVirtual()
        .start(() -> {
          try {
            while (true) {
              try (Socket socket = listener.accept()) {
                connections.incrementAndGet();
                byte[] _ = socket.getInputStream().readNBytes(20);
                socket.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
                // To close it before the whole request is read would reset the connection.
                socket.shutdownOutput();
                socket.getInputStream().transferTo(OutputStream.nullOutputStream());
              }
            }
          } catch (IOException _) {
            // Closed at the end of the test.
          }
        });
    return "http://127.0.0.1:" + listener.getLocalPort();
  }
}
