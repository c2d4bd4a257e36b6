package io.millrace.server.http;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.concurrency.limits.Limit;
import io.helidon.common.task.InterruptableTask;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.Router;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.time.Duration;
import java.util.Set;

/**
 * Gives every accepted connection to the HTTP/1.1 implementation of the library, wrapped so that
 * requests reach our dispatcher directly and closed or silent connections are noticed.
 */
final class ConnectionSelector implements ServerConnectionSelector {
  private final Http1ConnectionSelector http;
  private final HttpRouting dispatcher;
  private final HttpLimits limits;

  ConnectionSelector(Http1ConnectionSelector http, HttpRouting dispatcher, HttpLimits limits) {
    this.http = http;
    this.dispatcher = dispatcher;
    this.limits = limits;
  }

  @Override
  public int bytesToIdentifyConnection() {
    return http.bytesToIdentifyConnection();
  }

  @Override
  public Support supports(BufferData data) {
    return http.supports(data);
  }

  @Override
  public Set<String> supportedApplicationProtocols() {
    return http.supportedApplicationProtocols();
  }

  @Override
  public ServerConnection connection(ConnectionContext accepted) {
    Router router = new DispatchingRouter(accepted.router(), dispatcher);
    Connection connection = new Connection(accepted, router, limits);
    return new Accepted(connection, http.connection(connection), limits.idleTimeout());
  }

  /** The library's connection with our measure of silence. */
  private record Accepted(Connection connection, ServerConnection http, Duration idleTimeout)
      implements ServerConnection, InterruptableTask<Void> {
    @Override
    public void handle(Limit limit) throws InterruptedException {
      http.handle(limit);
    }

    @Override
    public Duration idleTime() {
      return Duration.ofNanos(connection.silentNanos());
    }

    @Override
    public void close(boolean interrupt) {
      // One that has stalled within a request is not waiting for the next, and needs the interrupt.
      http.close(interrupt || idleTime().compareTo(idleTimeout) > 0);
    }

    @Override
    public boolean canInterrupt() {
      return http instanceof InterruptableTask<?> task && task.canInterrupt();
    }
  }
}
