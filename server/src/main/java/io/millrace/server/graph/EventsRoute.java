package io.millrace.server.graph;

import io.millrace.graph.GraphRegistry;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.UnknownNodeException;
import io.millrace.server.http.HttpMethod;
import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.Reply;
import io.millrace.server.http.Request;
import io.millrace.server.http.Watch;
import io.millrace.server.websocket.WebSocketLimits;
import io.millrace.store.StoreClosedException;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The changes of the graph, as server-sent events or over a WebSocket. */
final class EventsRoute {
  private static final Map<String, String> HEADERS = Map.of("Cache-Control", "no-store");

  /** Nobody has anything to say here. */
  private static final WebSocketLimits LIMITS = new WebSocketLimits(1 << 10, 1 << 10, 1 << 10);

  private static final Set<String> PARAMETERS =
      Set.of("type", "state", "status", "below", "new", "metadata", "after");

  private final GraphRegistry graph;

  EventsRoute(GraphRegistry graph) {
    this.graph = graph;
  }

  void mount(GraphMount mount) {
    mount.add(HttpMethod.GET, "/events", PARAMETERS, (request, _) -> open(request));
  }

  private Reply open(Request request) {
    NodeFilter filter = Filters.of(request.query());
    if (filter.below() != null && graph.node(filter.below()).isEmpty()) {
      throw new UnknownNodeException(filter.below());
    }
    Long after = after(request);
    if (after != null) {
      // Answered with 410 while that is still possible.
      graph.changes(after).close();
    }
    EventFeed feed =
        new EventFeed(graph, new EventFeed.Wanted(filter, Selected.of(request.query()), after));
    if (request.header("Upgrade").isPresent()) {
      return request.webSocket(LIMITS, socket -> SocketOutlet.open(socket, feed));
    }
    return new Reply.Streamed(
        200, Reply.EVENTS, HEADERS, -1, target -> stream(request, feed, target));
  }

  /** The version behind which a stream goes on; null for none. */
  private static @Nullable Long after(Request request) {
    String given =
        request.header("Last-Event-ID").or(() -> request.query().text("after")).orElse(null);
    if (given == null) {
      return null;
    }
    try {
      long version = Long.parseLong(given);
      if (version >= 0) {
        return version;
      }
    } catch (NumberFormatException _) {
      // Said below.
    }
    throw HttpProblem.malformed("after must be the version of an event, not " + given);
  }

  private static void stream(Request request, EventFeed feed, OutputStream target)
      throws IOException, InterruptedException {
    AtomicBoolean over = new AtomicBoolean();
    try (Watch _ = request.watch(_ -> over.set(true))) {
      feed.run(new SseOutlet(target), over::get);
    } catch (StoreClosedException _) {
      // The store has gone: the stream simply ends.
    }
  }
}
