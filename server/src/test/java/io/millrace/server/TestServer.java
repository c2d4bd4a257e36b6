package io.millrace.server;

import io.millrace.http.Route;
import io.millrace.server.config.Configuration;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** A server on a free port, with a client that speaks plain HTTP to it. */
final class TestServer implements AutoCloseable {
  private final MillraceServer server;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private TestServer(MillraceServer server) {
    this.server = server;
  }

  /** A real store in {@code folder}, with further settings. */
  static TestServer in(Path folder, String... keysAndValues) {
    return with(TaskStore::open, folder, keysAndValues);
  }

  /** Any store. */
  static TestServer with(
      Function<StoreOptions, EmbeddedTaskStore> opener, Path folder, String... keysAndValues) {
    Map<String, String> flags = new HashMap<>();
    flags.put("server.port", "0");
    flags.put("store.data", folder.resolve("store").toString());
    for (int i = 0; i < keysAndValues.length; i += 2) {
      flags.put(keysAndValues[i], keysAndValues[i + 1]);
    }
    return new TestServer(
        MillraceServer.start(Configuration.read(MillraceServer.SECTIONS, null, flags), opener));
  }

  int port() {
    return server.port();
  }

  /** All that it answers. */
  List<Route> routes() {
    return server.routes();
  }

  /** What runs. */
  MillraceServer server() {
    return server;
  }

  URI at(String path) {
    return URI.create("http://127.0.0.1:" + port() + path);
  }

  HttpResponse<String> get(String path, String... headers)
      throws IOException, InterruptedException {
    return send("GET", path, "", headers);
  }

  HttpResponse<String> post(String path, String body) throws IOException, InterruptedException {
    return send("POST", path, body);
  }

  /** Sends a request, and holds it and its response against the OpenAPI document. */
  HttpResponse<String> send(String method, String path, String body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(at(path))
            .timeout(Duration.ofSeconds(30))
            .method(
                method,
                body.isEmpty()
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body));
    if (headers.length > 0) {
      request.headers(headers);
    }
    HttpResponse<String> response =
        client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    Contract.of(routes()).check(method, at(path), body, response);
    return response;
  }

  /** Submits a job, a form of these names and values. */
  HttpResponse<String> submit(String path, String... namesAndValues)
      throws IOException, InterruptedException {
    StringBuilder form = new StringBuilder();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      form.append("--frontier\r\nContent-Disposition: form-data; name=\"")
          .append(namesAndValues[i])
          .append("\"\r\n\r\n")
          .append(namesAndValues[i + 1])
          .append("\r\n");
    }
    form.append("--frontier--\r\n");
    return send(
        "POST", path, form.toString(), "Content-Type", "multipart/form-data; boundary=frontier");
  }

  /** A connection for bytes that no client library would send. */
  Socket connect() throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port());
    socket.setSoTimeout(30_000);
    return socket;
  }

  /** Sends {@code text}, with CRLF for every line end, and reads until the server closes. */
  String raw(String text) throws IOException {
    try (Socket socket = connect()) {
      socket
          .getOutputStream()
          .write(text.replace("\n", "\r\n").getBytes(StandardCharsets.ISO_8859_1));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** Stops the server alone, as a signal would. */
  void stopServing() {
    server.close();
  }

  @Override
  public void close() {
    client.close();
    server.close();
  }
}
