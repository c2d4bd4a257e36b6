package io.millrace.server.http;

import io.helidon.common.context.Context;
import io.helidon.http.DirectHandler;
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
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The settings under which the library's HTTP/1.1 works for us, without its own listener. */
final class Library {
  private Library() {}

  /** What makes a connection speak HTTP/1.1; WebSocket is an answer of a route, see Upgrade. */
  static Http1ConnectionSelector http(HttpLimits limits) {
    return Http1ConnectionSelector.builder()
        .config(
            Http1Config.builder()
                // The limits proper are checked before the library sees anything.
                .maxPrologueLength(2 * limits.maxRequestLineBytes())
                .maxHeadersSize(2 * limits.maxHeaderBytes())
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
      handlers.addHandler(type, Unroutable::answer);
    }
    return handlers.build();
  }
}
