package io.millrace.cluster.documents.elastic;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.millrace.work.elastic.ElasticClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** A proxy between the documents and an engine, which injects faults. */
final class Proxy implements AutoCloseable {
  /** A fault of a request. */
  enum Fault {
    /** Nothing. */
    NONE,
    /** The request is executed, and the connection breaks before the response. */
    DROP_ANSWER,
    /** The request is executed, and the response does not come before the proxy is closed. */
    KEEP_ANSWER,
    /** The request is executed twice, and the second response is returned. */
    SEND_TWICE
  }

  private final ElasticClient engine;
  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile Fault fault = Fault.NONE;
  private volatile @Nullable String says;

  Proxy(URI engine) throws IOException {
    this.engine = ElasticOptions.at(engine).withTimeout(Duration.ofSeconds(30)).connect();
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::handle);
    server.setExecutor(threads);
    server.start();
  }

  URI address() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  /** Applies a fault to every request from now on. */
  void will(Fault fault) {
    this.fault = fault;
  }

  /**
   * From now on every request is answered with a status and a type of error, and is not executed.
   */
  void says(String statusAndType) {
    says = statusAndType;
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      String path = exchange.getRequestURI().toString();
      String error = says;
      if (error != null) {
        answer(
            exchange,
            Integer.parseInt(error.substring(0, 3)),
            "{\"error\":{\"type\":\"%s\",\"reason\":\"the reason\"}}"
                .formatted(error.substring(4))
                .getBytes(StandardCharsets.UTF_8));
        return;
      }
      String json = body.isEmpty() ? null : body;
      HttpResponse<byte[]> answer = engine.send(exchange.getRequestMethod(), path, json);
      switch (fault) {
        case NONE -> answer(exchange, answer.statusCode(), answer.body());
        case DROP_ANSWER -> {}
        case KEEP_ANSWER -> closed.await();
        case SEND_TWICE -> {
          HttpResponse<byte[]> second = engine.send(exchange.getRequestMethod(), path, json);
          answer(exchange, second.statusCode(), second.body());
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void answer(HttpExchange exchange, int status, byte[] body) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
  }

  @Override
  public void close() {
    closed.countDown();
    server.stop(0);
    threads.close();
    engine.close();
  }
}
