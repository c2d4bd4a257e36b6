package io.millrace.http.websocket;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.millrace.http.AccessCheck;
import io.millrace.http.ApiRoutes;
import io.millrace.http.AuditTrail;
import io.millrace.http.ErrorResponses;
import io.millrace.http.HttpLimits;
import io.millrace.http.HttpServer;
import io.millrace.http.Routes;
import io.millrace.http.transport.Certificates;
import io.millrace.http.transport.ServerCertificate;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.SocketFactory;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Sends texts back, and the lengths of binary messages; closes where a text asks for it. */
final class EchoServer implements AutoCloseable {
  private static final WebSocket.Limits LIMITS = new WebSocket.Limits(1 << 20, 1 << 10, 1L << 40);

  private final HttpServer listener;
  private final BlockingQueue<String> events = new LinkedBlockingQueue<>();

  private final @Nullable SSLContext trust;

  EchoServer(WebSocket.Limits limits, Duration idle) {
    this(limits, idle, null, null);
  }

  /**
   * With encrypted connections.
   *
   * @param certificate null for plain ones
   * @param trust trusts the certificate; null for plain connections
   */
  EchoServer(
      WebSocket.Limits limits,
      Duration idle,
      @Nullable ServerCertificate certificate,
      @Nullable SSLContext trust) {
    this.trust = trust;
    ApiRoutes echo =
        ApiRoutes.below("")
            .get("/echo", request -> request.webSocket(limits, socket -> new Echo(socket)));
    Routes routes = new Routes(new SimpleMeterRegistry()).addAll(echo.routes());
    HttpLimits http = HttpLimits.DEFAULT;
    this.listener =
        HttpServer.start(
            new HttpServer.Endpoint(InetAddress.getLoopbackAddress(), 0, certificate),
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
            new HttpServer.Site(AccessCheck.OPEN, routes, new ErrorResponses(), AuditTrail.NONE));
  }

  static EchoServer start() {
    return new EchoServer(LIMITS, Duration.ofMinutes(1));
  }

  /** The same with encrypted connections. */
  static EchoServer encrypted(Path folder) throws GeneralSecurityException, IOException {
    ServerCertificate.Source source = Certificates.Shared.in(folder);
    return new EchoServer(
        LIMITS,
        Duration.ofMinutes(1),
        ServerCertificate.read(source, InstantSource.system()),
        Certificates.trusting(source.certificate()));
  }

  RawPeer connect() throws IOException {
    return RawPeer.at(
        trust == null ? SocketFactory.getDefault() : trust.getSocketFactory(),
        listener.port(),
        "/echo");
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
