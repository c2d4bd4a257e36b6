package io.millrace.cli.dashboard;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A proxy that passes requests below a path prefix on, without the prefix, and answers as they
 * arrive. Everything else is 404.
 */
final class PrefixProxy implements AutoCloseable {
  /** Headers of a connection, or those that the client of the proxy sets itself. */
  private static final Set<String> OWN_HEADERS =
      headers("Connection", "Content-Length", "Host", "Transfer-Encoding", "Upgrade");

  private final String prefix;
  private final HttpServer listener;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final HttpClient client = HttpClient.newHttpClient();
  private volatile String target = "";

  private PrefixProxy(String prefix, HttpServer listener) {
    this.prefix = prefix;
    this.listener = listener;
  }

  private static Set<String> headers(String... names) {
    Set<String> headers = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    headers.addAll(Set.of(names));
    return headers;
  }

  /** Starts on any free port. */
  static PrefixProxy start(String prefix) throws IOException {
    HttpServer listener =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    PrefixProxy proxy = new PrefixProxy(prefix, listener);
    listener.setExecutor(proxy.threads);
    listener.createContext(prefix + "/", proxy::pass);
    listener.start();
    return proxy;
  }

  /** The address of the proxy, without the prefix. */
  String origin() {
    return "http://127.0.0.1:" + listener.getAddress().getPort();
  }

  /** Has requests go to a server from now on. */
  void passTo(String address) {
    target = address;
  }

  private void pass(HttpExchange exchange) throws IOException {
    try (exchange) {
      String path = exchange.getRequestURI().toString().substring(prefix.length());
      HttpRequest.Builder request =
          HttpRequest.newBuilder(URI.create(target + path))
              .method(
                  exchange.getRequestMethod(),
                  BodyPublishers.ofByteArray(exchange.getRequestBody().readAllBytes()));
      exchange
          .getRequestHeaders()
          .forEach((name, values) -> {
            if (!OWN_HEADERS.contains(name)) {
              values.forEach(value -> request.header(name, value));
            }
          });
      answer(exchange, client.send(request.build(), BodyHandlers.ofInputStream()));
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private static void answer(HttpExchange exchange, HttpResponse<InputStream> response)
      throws IOException {
    response
        .headers()
        .map()
        .forEach((name, values) -> {
          if (!OWN_HEADERS.contains(name)) {
            values.forEach(value -> exchange.getResponseHeaders().add(name, value));
          }
        });
    long length = response.headers().firstValueAsLong("Content-Length").orElse(0);
    boolean empty = response.statusCode() == 204 || response.statusCode() == 304;
    try (InputStream body = response.body()) {
      exchange.sendResponseHeaders(response.statusCode(), empty ? -1 : length);
      OutputStream out = exchange.getResponseBody();
      byte[] buffer = new byte[8192];
      for (int read = body.read(buffer); read >= 0; read = body.read(buffer)) {
        out.write(buffer, 0, read);
        out.flush();
      }
    }
  }

  @Override
  public void close() {
    listener.stop(0);
    client.shutdownNow();
    threads.shutdownNow();
  }
}
