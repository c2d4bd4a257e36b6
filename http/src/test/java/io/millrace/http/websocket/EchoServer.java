package io.millrace.http.websocket;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.millrace.http.AccessCheck;
import io.millrace.http.ApiRoutes;
import io.millrace.http.ErrorResponses;
import io.millrace.http.HttpLimits;
import io.millrace.http.HttpServer;
import io.millrace.http.Routes;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Sends texts back, and the lengths of binary messages; closes where a text asks for it. */
final class EchoServer implements AutoCloseable {
  private final HttpServer listener;
  private final BlockingQueue<String> events = new LinkedBlockingQueue<>();

  EchoServer(WebSocket.Limits limits, Duration idle) {
    ApiRoutes echo =
        ApiRoutes.below("")
            .get("/echo", request -> request.webSocket(limits, socket -> new Echo(socket)));
    Routes routes = new Routes(new SimpleMeterRegistry()).addAll(echo.routes());
    HttpLimits http = HttpLimits.DEFAULT;
    this.listener =
        HttpServer.start(
            InetAddress.getLoopbackAddress(),
            0,
            new HttpLimits(
                http.maxBodyBytes(),
                http.maxHeaderBytes(),
                http.maxRequestLineBytes(),
                http.maxConnections(),
                http.memoryBytes(),
                http.headTimeout(),
                http.minBodyRate(),
                idle,
                http.stopGrace(),
                http.slowRequest()),
            AccessCheck.OPEN,
            routes,
            new ErrorResponses());
  }

  static EchoServer start() {
    return new EchoServer(new WebSocket.Limits(1 << 20, 1 << 10, 1L << 40), Duration.ofMinutes(1));
  }

  RawPeer connect() throws IOException {
    return RawPeer.at(listener.port(), "/echo");
  }

  int port() {
    return listener.port();
  }

  void stop() {
    listener.stop();
  }

  /** What the server's side has seen next. */
  String nextEvent() throws InterruptedException {
    return String.valueOf(events.poll(30, TimeUnit.SECONDS));
  }

  private final class Echo implements WebSocket.Listener {
    private final WebSocket socket;

    Echo(WebSocket socket) {
      this.socket = socket;
    }

    @Override
    public void text(String text) {
      switch (text) {
        case "close" -> socket.close(4000, "ü".repeat(100));
        case "unreadable" ->
            socket.binary(
                "before",
                10,
                () -> {
                  throw new EOFException("gone");
                });
        case "short" -> socket.binary(null, 10, () -> new ByteArrayInputStream(new byte[5]));
        case "payload" ->
            socket.binary("before", 600_000, () -> new ByteArrayInputStream(new byte[600_000]));
        case "flood" -> {
          for (int i = 0; i <= 2 * WebSocket.MAX_QUEUED; i++) {
            socket.binary(null, 1 << 20, () -> new ByteArrayInputStream(new byte[1 << 20]));
          }
        }
        default -> socket.text(text);
      }
    }

    @Override
    public void binary(InputStream message) throws IOException {
      long length = 0;
      int sum = 0;
      byte[] buffer = new byte[64 << 10];
      int count = message.read(buffer);
      while (count >= 0) {
        for (int i = 0; i < count; i++) {
          sum = 31 * sum + buffer[i];
        }
        length += count;
        count = message.read(buffer);
      }
      socket.text(length + " " + sum);
    }

    @Override
    public void alive() {
      events.add("alive");
    }

    @Override
    public void closed(int code, String reason) {
      events.add("closed");
    }
  }

  @Override
  public void close() {
    listener.stop();
  }
}
