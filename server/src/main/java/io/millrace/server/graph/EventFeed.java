package io.millrace.server.graph;

import io.millrace.graph.GraphChanges;
import io.millrace.graph.GraphEvent;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphRegistry.Snapshot;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.UnknownNodeException;
import io.millrace.graph.VersionLostException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** The changes of a graph for one client, whatever way they go. */
final class EventFeed {
  private static final long ALIVE_EVERY_NANOS = Duration.ofSeconds(10).toNanos();

  /** How soon an idle stream notices that the client or the server goes. */
  private static final Duration STEP = Duration.ofMillis(250);

  private final GraphRegistry graph;
  private final Wanted wanted;

  EventFeed(GraphRegistry graph, Wanted wanted) {
    this.graph = graph;
    this.wanted = wanted;
  }

  /**
   * What a client wants.
   *
   * @param filter which nodes
   * @param selected what of them
   * @param after the version that it knows; null for none, so that all nodes come first
   */
  record Wanted(NodeFilter filter, Selected selected, @Nullable Long after) {}

  /** Tells what happens until it is over, or changes were lost. */
  void run(EventOutlet outlet, BooleanSupplier over) throws IOException, InterruptedException {
    try (GraphChanges changes = graph.changes(wanted.after())) {
      EventView view = new EventView(graph, wanted.filter(), wanted.after() != null);
      new Round(view, outlet, begin(view, outlet)).run(changes, over);
    } catch (VersionLostException | UnknownNodeException e) {
      // Too slow; or the node below which all is to be told has just been removed.
      outlet.lost(String.valueOf(e.getMessage()));
    }
  }

  /** Tells where the stream begins, and gives the version that the client then knows. */
  private long begin(EventView view, EventOutlet outlet) throws IOException {
    Long after = wanted.after();
    if (after != null) {
      outlet.sign();
      return after;
    }
    // The subscription began before: what is in both comes once, here.
    Snapshot now = view.begin();
    outlet.message(
        now.version(),
        json -> {
          json.writeStartObject();
          json.writeNumberProperty("version", now.version());
          write(json, "nodes", now.nodes());
          json.writeEndObject();
        });
    return now.version();
  }

  private void write(JsonGenerator json, String field, List<GraphNode> nodes) {
    json.writeArrayPropertyStart(field);
    nodes.forEach(node -> Json.MAPPER.writeTree(json, wanted.selected().shape(node)));
    json.writeEndArray();
  }

  /** A stream that has begun. */
  private final class Round {
    private final EventView view;
    private final EventOutlet outlet;

    /** The version that was told last, and the one that was seen last. */
    private long told;

    private long seen;

    Round(EventView view, EventOutlet outlet, long version) {
      this.view = view;
      this.outlet = outlet;
      this.told = version;
      this.seen = version;
    }

    void run(GraphChanges changes, BooleanSupplier over) throws IOException, InterruptedException {
      outlet.flush();
      long written = System.nanoTime();
      boolean pending = false;
      while (!over.getAsBoolean()) {
        List<GraphEvent> events = changes.next(pending ? Duration.ZERO : STEP);
        for (GraphEvent event : events) {
          pending |= tell(event);
        }
        if (events.isEmpty() && pending) {
          outlet.flush();
          pending = false;
          written = System.nanoTime();
        } else if (System.nanoTime() - written > ALIVE_EVERY_NANOS) {
          sign();
          written = System.nanoTime();
        }
      }
    }

    private boolean tell(GraphEvent event) throws IOException {
      if (event.version() <= seen) {
        return false;
      }
      seen = event.version();
      EventView.Seen news = view.see(event);
      if (news.isNothing()) {
        return false;
      }
      message(news);
      return true;
    }

    private void message(EventView.Seen news) throws IOException {
      told = seen;
      outlet.message(
          seen,
          json -> {
            json.writeStartObject();
            json.writeNumberProperty("version", seen);
            write(json, "changed", news.changed());
            json.writeArrayPropertyStart("removed");
            news.gone().stream().map(NodeId::toString).forEach(json::writeString);
            json.writeEndArray();
            json.writeEndObject();
          });
    }

    /** A sign of life; one that moves the client's place on where only others' nodes changed. */
    private void sign() throws IOException {
      if (seen > told) {
        message(new EventView.Seen(List.of(), List.of()));
      } else {
        outlet.sign();
      }
      outlet.flush();
    }
  }
}
