package io.millrace.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.millrace.blobs.Blob;
import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobReceipt;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.BlobStream;
import io.millrace.blobs.NoSuchBlobException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The routes of {@link HttpBlobStore} over another store, as small as they can be. */
final class BlobServer implements AutoCloseable {
  private final BlobStore blobs;
  private final @Nullable String token;
  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final AtomicLong received = new AtomicLong();

  BlobServer(BlobStore blobs, @Nullable String token) throws IOException {
    this.blobs = blobs;
    this.token = token;
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/blobs", this::handle);
    server.start();
  }

  URI address() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  long received() {
    return received.get();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      String authorization = exchange.getRequestHeaders().getFirst("Authorization");
      if (token != null && !("Bearer " + token).equals(authorization)) {
        text(exchange, 401, "a token is needed");
        return;
      }
      String path = exchange.getRequestURI().getPath();
      if (path.equals("/blobs")) {
        list(exchange, exchange.getRequestURI().getQuery().substring("prefix=".length()));
        return;
      }
      String name = path.substring("/blobs/".length());
      switch (exchange.getRequestMethod()) {
        case "PUT" -> put(exchange, name);
        case "DELETE" -> exchange.sendResponseHeaders(blobs.delete(name) ? 204 : 404, -1);
        case "HEAD" -> head(exchange, name);
        default -> get(exchange, name);
      }
    } catch (BlobException e) {
      text(exchange, 507, e.toString());
    }
  }

  private void put(HttpExchange exchange, String name) throws IOException {
    received.set(0);
    InputStream counted =
        new FilterInputStream(exchange.getRequestBody()) {
          @Override
          public int read(byte[] target, int offset, int length) throws IOException {
            int count = super.read(target, offset, length);
            received.addAndGet(Math.max(0, count));
            return count;
          }
        };
    BlobReceipt receipt = blobs.put(name, counted);
    text(
        exchange,
        201,
        "{\"name\":\"%s\",\"size\":%d,\"sha256\":\"%s\"}"
            .formatted(receipt.name(), receipt.size(), receipt.sha256()));
  }

  private void head(HttpExchange exchange, String name) throws IOException {
    OptionalLong size = blobs.size(name);
    if (size.isPresent()) {
      exchange.getResponseHeaders().set("Content-Length", Long.toString(size.getAsLong()));
    }
    exchange.sendResponseHeaders(size.isPresent() ? 200 : 404, -1);
  }

  private void get(HttpExchange exchange, String name) throws IOException {
    String range = exchange.getRequestHeaders().getFirst("Range");
    long offset = range == null ? 0 : Long.parseLong(range.replaceAll("\\D", ""));
    try (BlobStream in = blobs.open(name, offset)) {
      long left = in.size() - offset;
      if (range != null && left <= 0) {
        exchange.getResponseHeaders().set("Content-Range", "bytes */" + in.size());
        exchange.sendResponseHeaders(416, -1);
        return;
      }
      if (range != null) {
        exchange
            .getResponseHeaders()
            .set("Content-Range", "bytes " + offset + "-" + (in.size() - 1) + "/" + in.size());
      }
      // This server takes 0 for a length that is not known, and -1 for none.
      exchange.sendResponseHeaders(range == null ? 200 : 206, left == 0 ? -1 : left);
      if (left > 0) {
        in.transferTo(exchange.getResponseBody());
      }
    } catch (NoSuchBlobException e) {
      text(exchange, 404, e.toString());
    }
  }

  private void list(HttpExchange exchange, String prefix) throws IOException {
    List<String> elements = new ArrayList<>();
    try (Stream<Blob> listed = blobs.list(prefix)) {
      listed.forEach(blob ->
          elements.add(
              "{\"name\":\"%s\",\"size\":%d,\"modified\":\"%s\"}"
                  .formatted(blob.name(), blob.size(), blob.modified())));
    }
    text(exchange, 200, "{\"blobs\":[" + String.join(",", elements) + "]}");
  }

  private static void text(HttpExchange exchange, int status, String text) throws IOException {
    byte[] bytes = text.getBytes(UTF_8);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.close();
  }
}
