package io.millrace.server;

import io.millrace.client.ClientOptions;
import io.millrace.http.Route;
import io.millrace.http.transport.Certificates;
import io.millrace.http.transport.ServerCertificate;
import io.millrace.server.config.Configuration;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.work.TrustedCertificates;
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
import javax.net.SocketFactory;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** A server on a free port, with a client that speaks plain HTTP to it. */
public final class TestServer implements AutoCloseable {
  /** What connections to a server are. */
  public enum Wire {
    PLAIN,
    TLS
  }

  private final MillraceServer server;

  /** The certificate of the server; null if its connections are plain. */
  private final @Nullable Path certificate;

  /** For encrypted connections; null if they are plain. */
  private final @Nullable SSLContext trust;

  private final HttpClient client;

  private TestServer(MillraceServer server, @Nullable Path certificate) {
    this.server = server;
    this.certificate = certificate;
    this.trust = certificate == null ? null : TrustedCertificates.context(certificate);
    HttpClient.Builder builder = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1);
    this.client = trust == null ? builder.build() : builder.sslContext(trust).build();
  }

  /** A real store in {@code folder}, with further settings. */
  public static TestServer in(Path folder, String... keysAndValues) {
    return with(TaskStore::open, folder, keysAndValues);
  }

  /** Any store. */
  public static TestServer with(
      Function<StoreOptions, EmbeddedTaskStore> opener, Path folder, String... keysAndValues) {
    return with(Wire.PLAIN, opener, folder, keysAndValues);
  }

  /** The same with encrypted connections, or plain ones. */
  public static TestServer with(
      Wire wire,
      Function<StoreOptions, EmbeddedTaskStore> opener,
      Path folder,
      String... keysAndValues) {
    Map<String, String> flags = new HashMap<>();
    flags.put("server.port", "0");
    flags.put("store.data", folder.resolve("store").toString());
    for (int i = 0; i < keysAndValues.length; i += 2) {
      flags.put(keysAndValues[i], keysAndValues[i + 1]);
    }
    Path certificate = null;
    if (wire == Wire.TLS) {
      ServerCertificate.Source source = Certificates.Shared.in(folder);
      flags.put("server.tls.certificate", source.certificate().toString());
      flags.put("server.tls.key", source.key().toString());
      certificate = source.certificate();
    }
    return new TestServer(
        MillraceServer.start(
            Configuration.read(MillraceServer.SECTIONS, null, flags),
            settings -> opener.apply(settings.options())),
        certificate);
  }

  public int port() {
    return server.port();
  }

  /** All that it answers. */
  public List<Route> routes() {
    return server.routes();
  }

  /** What runs. */
  public MillraceServer server() {
    return server;
  }

  public URI at(String path) {
    return URI.create((trust == null ? "http" : "https") + "://127.0.0.1:" + port() + path);
  }

  public HttpResponse<String> get(String path, String... headers)
      throws IOException, InterruptedException {
    return send("GET", path, "", headers);
  }

  public HttpResponse<String> post(String path, String body)
      throws IOException, InterruptedException {
    return send("POST", path, body);
  }

  /** Sends a request, and holds it and its response against the OpenAPI document. */
  public HttpResponse<String> send(String method, String path, String body, String... headers)
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
  public HttpResponse<String> submit(String path, String... namesAndValues)
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
  public Socket connect() throws IOException {
    Socket socket = factory().createSocket(InetAddress.getLoopbackAddress(), port());
    socket.setSoTimeout(30_000);
    return socket;
  }

  /** How clients reach it. */
  public ClientOptions options() {
    return ClientOptions.at(at("")).withCertificates(certificate);
  }

  private SocketFactory factory() {
    return trust == null ? SocketFactory.getDefault() : trust.getSocketFactory();
  }

  /** Sends {@code text}, with CRLF for every line end, and reads until the server closes. */
  public String raw(String text) throws IOException {
    try (Socket socket = connect()) {
      socket
          .getOutputStream()
          .write(text.replace("\n", "\r\n").getBytes(StandardCharsets.ISO_8859_1));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** Stops the server alone, as a signal would. */
  public void stopServing() {
    server.close();
  }

  @Override
  public void close() {
    client.close();
    server.close();
  }
}
