package io.millrace.blobs.s3;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/** A server that counts what is uploaded in parts, and keeps nothing of it. */
final class CountingBucket implements AutoCloseable {
  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicLong parts = new AtomicLong();

  CountingBucket() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      exchange.getRequestBody().transferTo(OutputStream.nullOutputStream());
      String query = String.valueOf(exchange.getRequestURI().getQuery());
      String content;
      if (exchange.getRequestMethod().equals("PUT")) {
        String length = exchange.getRequestHeaders().getFirst("x-amz-decoded-content-length");
        bytes.addAndGet(
            Long.parseLong(
                length == null ? exchange.getRequestHeaders().getFirst("Content-Length") : length));
        parts.incrementAndGet();
        exchange.getResponseHeaders().add("ETag", "\"part\"");
        content = "";
      } else if (query.startsWith("uploads")) {
        content =
            "<InitiateMultipartUploadResult><UploadId>one</UploadId></InitiateMultipartUploadResult>";
      } else {
        content =
            "<CompleteMultipartUploadResult><ETag>\"all\"</ETag></CompleteMultipartUploadResult>";
      }
      byte[] body = content.getBytes(UTF_8);
      exchange.sendResponseHeaders(200, body.length == 0 ? -1 : body.length);
      if (body.length > 0) {
        exchange.getResponseBody().write(body);
      }
    }
  }

  URI endpoint() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  long bytes() {
    return bytes.get();
  }

  long parts() {
    return parts.get();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
