package io.millrace.server.http;

import io.helidon.common.context.Context;
import io.helidon.http.DirectHandler;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import io.helidon.http.encoding.ContentEncodingContext;
import io.helidon.http.media.MediaContext;
import io.helidon.webserver.ListenerConfig;
import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.Router;
import io.helidon.webserver.Routing;
import io.helidon.webserver.http.DirectHandlers;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.millrace.wire.Answers;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** The settings under which the library's HTTP/1.1 works for us, without its own listener. */
final class Library {
  private Library() {}

  /** What makes a connection speak HTTP/1.1; WebSocket is an answer of a route, see Upgrade. */
  static Http1ConnectionSelector http(HttpLimits limits) {
    return Http1ConnectionSelector.builder()
        .config(
            Http1Config.builder()
                .maxPrologueLength(limits.maxRequestLineBytes())
                .maxHeadersSize(limits.maxHeaderBytes())
                .receiveLog(false)
                .sendLog(false)
                .buildPrototype())
        .build();
  }

  /** A router that knows our dispatcher and nothing else. */
  record OneRouter(HttpRouting dispatcher) implements Router {
    @Override
    public <T extends Routing> T routing(Class<T> type, T absent) {
      return type == HttpRouting.class ? type.cast(dispatcher) : absent;
    }

    @Override
    public void beforeStart() {}

    @Override
    public void afterStop() {}

    @Override
    public List<? extends Routing> routings() {
      return List.of(dispatcher);
    }
  }

  /** What the library asks about its listener. */
  record Listening(
      Context context,
      MediaContext mediaContext,
      ContentEncodingContext contentEncodingContext,
      DirectHandlers directHandlers,
      ListenerConfig config,
      ExecutorService executor)
      implements ListenerContext {
    static Listening create() {
      return new Listening(
          Context.create(),
          MediaContext.create(),
          ContentEncodingContext.create(),
          Library.directHandlers(),
          ListenerConfig.builder()
              .maxPayloadSize(-1)
              .errorHandling(handling -> handling.includeEntity(true))
              .buildPrototype(),
          Executors.newVirtualThreadPerTaskExecutor());
    }
  }

  /** Answers what is no HTTP request that could be routed. */
  private static DirectHandlers directHandlers() {
    DirectHandlers.Builder handlers = DirectHandlers.builder();
    for (DirectHandler.EventType type : DirectHandler.EventType.values()) {
      handlers.addHandler(type, Library::unroutable);
    }
    return handlers.build();
  }

  private static DirectHandler.TransportResponse unroutable(
      DirectHandler.TransportRequest request,
      DirectHandler.EventType type,
      Status status,
      ServerResponseHeaders headers,
      @Nullable String message) {
    // Our dispatcher answers every failure of a routed request, so an internal error of the library
    // can only mean that it could not read what the client sent.
    boolean unread =
        status.code() >= 500 && type != DirectHandler.EventType.HTTP_VERSION_NOT_SUPPORTED;
    String what = unread || message == null ? "the request line or a header is malformed" : message;
    headers.set(HeaderValues.create(HeaderNames.CONTENT_TYPE, Reply.JSON));
    return DirectHandler.TransportResponse.builder()
        .status(unread ? Status.BAD_REQUEST_400 : status)
        .headers(headers)
        .keepAlive(false)
        .entity(Answers.writeError(what))
        .build();
  }
}
