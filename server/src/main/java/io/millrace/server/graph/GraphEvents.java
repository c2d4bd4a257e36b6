package io.millrace.server.graph;

import io.millrace.graph.GraphChanges;
import io.millrace.graph.GraphChanges.GraphEvent;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphException.VersionLostException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphRegistry.Snapshot;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.http.Request;
import io.millrace.http.events.EventStream;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.ObjectWriter;

/**
 * The changes of a graph as one client sees them: server-sent events, or messages of a WebSocket.
 * The id of each event is the version of the graph after it. For use by one thread.
 */
final class GraphEvents implements EventStream.Source {
  static final Set<String> PARAMETERS =
      Set.of("type", "state", "status", "below", "new", "metadata", "after");

  /** The stream flushes when it must; a generator for each event must not flush it. */
  private static final ObjectWriter WRITER =
      Json.MAPPER.writer().without(StreamWriteFeature.FLUSH_PASSED_TO_STREAM);

  private final GraphChanges changes;
  private final EventView view;
  private final Wanted wanted;

  /** The last version that was sent, and the last one that was seen. */
  private long told;

  private long seen;

  /**
   * What a client wants.
   *
   * @param filter which nodes
   * @param selected which metadata of them
   * @param after the version that it knows; null for none, so that all nodes come first
   */
  record Wanted(NodeFilter filter, NodeShape selected, @Nullable Long after) {}

  private GraphEvents(GraphChanges changes, GraphRegistry graph, Wanted wanted) {
    this.changes = changes;
    this.wanted = wanted;
    this.view = new EventView(graph, wanted.filter(), wanted.after() != null);
  }

  /** Answers with the stream that a request asks for. */
  static Response response(Request request, GraphRegistry graph) {
    NodeFilter filter =
        GraphReach.of(request, graph).within(GraphParameters.filter(request.query()));
    if (filter.below() != null && graph.node(filter.below()).isEmpty()) {
      throw new UnknownNodeException(filter.below());
    }
    Long after = after(request);
    if (after != null) {
      // Answered with 410, which is not possible later.
      graph.changes(after).close();
    }
    return stream(graph, new Wanted(filter, NodeShape.selected(request.query()), after))
        .response(request);
  }

  /** The version after which a stream continues; null for none. */
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

  static EventStream stream(GraphRegistry graph, Wanted wanted) {
    return new EventStream(
        () -> new GraphEvents(graph.changes(wanted.after()), graph, wanted), GraphEvents::lost);
  }

  /** The client is too slow, or the node below which it follows all nodes was just removed. */
  private static byte @Nullable [] lost(RuntimeException failure) {
    return failure instanceof VersionLostException || failure instanceof UnknownNodeException
        ? Json.bytes(Json.object().put("reason", failure.getMessage()))
        : null;
  }

  @Override
  public void begin(EventStream.Target target) throws IOException {
    Long after = wanted.after();
    if (after != null) {
      target.keepAlive();
      told = after;
      seen = after;
      return;
    }
    // The subscription began before: nodes that are in both are sent once, here.
    Snapshot now = view.begin();
    told = now.version();
    seen = now.version();
    event(target, json -> write(json, "nodes", now.nodes()));
  }

  @Override
  public boolean next(Duration wait, EventStream.Target target)
      throws IOException, InterruptedException {
    boolean written = false;
    for (GraphEvent event : changes.next(wait)) {
      if (event.version() > seen) {
        seen = event.version();
        EventView.Seen news = view.see(event);
        if (!news.isNothing()) {
          changed(target, news);
          written = true;
        }
      }
    }
    return written;
  }

  /** If only nodes outside the view have changed, an empty event moves the client's position on. */
  @Override
  public void keepAlive(EventStream.Target target) throws IOException {
    if (seen > told) {
      changed(target, new EventView.Seen(List.of(), List.of()));
    } else {
      target.keepAlive();
    }
  }

  private void changed(EventStream.Target target, EventView.Seen news) throws IOException {
    told = seen;
    event(
        target,
        json -> {
          write(json, "changed", news.changed());
          json.writeArrayPropertyStart("removed");
          news.gone().stream().map(NodeId::toString).forEach(json::writeString);
          json.writeEndArray();
        });
  }

  private void event(EventStream.Target target, Consumer<JsonGenerator> fields) throws IOException {
    target.event(
        null,
        Long.toString(seen),
        out -> {
          try (JsonGenerator json = WRITER.createGenerator(out)) {
            json.writeStartObject();
            json.writeNumberProperty("version", seen);
            fields.accept(json);
            json.writeEndObject();
          }
        });
  }

  private void write(JsonGenerator json, String field, List<GraphNode> nodes) {
    json.writeArrayPropertyStart(field);
    nodes.forEach(node -> Json.MAPPER.writeTree(json, wanted.selected().shape(node)));
    json.writeEndArray();
  }

  @Override
  public void close() {
    changes.close();
  }
}
