package io.millrace.server.graph;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.blobs.FileBlobStore;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.TestType;
import io.millrace.graph.store.StoredGraph;
import io.millrace.http.events.EventStream;
import io.millrace.http.message.Query;
import io.millrace.http.websocket.WebSocket;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How a stream of changes ends that cannot begin. */
final class GraphEventsLostTest {
  private TaskStore store;
  private GraphRegistry graph;

  @BeforeEach
  void open(@TempDir Path folder) {
    store =
        TaskStore.open(
            StoreOptions.in(Path.of("store")).withEnvironment(new SimulatedEnvironment(1)));
    graph =
        StoredGraph.open(
                store,
                FileBlobStore.open(folder),
                TestType.ALL,
                InstantSource.system(),
                new Random(1))
            .registry();
  }

  @AfterEach
  void close() {
    store.close();
  }

  private EventStream stream(@Nullable NodeId below, @Nullable Long after) {
    NodeFilter filter = new NodeFilter(Set.of(), Set.of(), below, 0);
    return GraphEvents.stream(
        graph, new GraphEvents.Wanted(filter, NodeShape.selected(Query.parse("metadata=")), after));
  }

  @Test
  void server_sent_events_end_with_lost_where_the_top_of_the_subtree_has_gone() throws Exception {
    NodeId top = new NodeId(1);
    ByteArrayOutputStream sent = new ByteArrayOutputStream();
    stream(top, null).run(EventStream.serverSent(sent), () -> false);
    assertThat(sent.toString(UTF_8))
        .isEqualTo("event: lost\ndata: {\"reason\":\"there is no node " + top + "\"}\n\n");
  }

  /** Notes how it is closed. */
  private static final class Closing implements WebSocket {
    final CompletableFuture<String> closed = new CompletableFuture<>();

    @Override
    public void text(String text) {
      closed.completeExceptionally(new AssertionError("told: " + text));
    }

    @Override
    public void binary(@Nullable String before, long size, Content content) {
      closed.completeExceptionally(new AssertionError("told in bytes"));
    }

    @Override
    public void ping() {}

    @Override
    public void close(int code, String reason) {
      closed.complete(code + " " + reason);
    }
  }

  @Test
  void a_websocket_is_closed_with_4410_where_its_position_is_not_kept() throws Exception {
    Closing socket = new Closing();
    var _ = stream(null, graph.version() + 1).open(socket);
    assertThat(socket.closed.get(30, TimeUnit.SECONDS))
        .startsWith("4410 changes after version " + (graph.version() + 1) + " are not kept");
  }
}
