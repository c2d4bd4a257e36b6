package io.millrace.server.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.client.RejectedException;
import io.millrace.client.graphs.GraphClient;
import io.millrace.client.graphs.GraphClient.AddedGraph;
import io.millrace.client.graphs.GraphClient.GraphOrder;
import io.millrace.client.graphs.GraphClient.Node;
import io.millrace.client.graphs.GraphClient.NodePage;
import io.millrace.client.graphs.GraphClient.State;
import io.millrace.client.graphs.NewGraph;
import io.millrace.client.graphs.NewGraph.NewNode;
import io.millrace.server.TestServer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/** The client of the graph of Java programs, with a real server. */
@Timeout(60)
final class GraphClientTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @TempDir private Path folder;
  private TestServer server;
  private GraphClient client;

  @BeforeEach
  void start() {
    server = TestServer.in(folder);
    client = GraphClient.open(server.options());
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  @Test
  void a_graph_runs_and_its_output_is_read() throws Exception {
    NewGraph graph = new NewGraph();
    NewNode first = graph.command("echo", "a b", "c").named("first").with("timeout", "1m");
    NewNode choice = graph.node("condition", Map.of("shell", "exit 1")).below(first);
    var _ = graph.shell("echo then").below(choice).onBranch(true);
    NewNode other = graph.shell("echo $NAME").below(choice).onBranch(false);
    var _ = other.with("env", Map.of("NAME", "else"));
    NewNode broken = graph.shell("exit 4").below(first);
    var _ = graph.shell("true").below(broken);
    var _ = graph.shell("true").after(broken, other).always();

    Map<String, State> states = client.run(graph, GraphOrder.DEFAULT, PATIENCE);

    assertThat(states.values())
        .containsExactly(
            State.FINISHED,
            State.FINISHED,
            State.SKIPPED,
            State.FINISHED,
            State.FAILED,
            State.BLOCKED,
            State.FINISHED);
    List<String> ids = List.copyOf(states.keySet());
    assertThat(client.output(ids.getFirst())).isEqualTo("a b c\n");
    assertThat(client.output(ids.get(3))).isEqualTo("else\n");
    Node failed = client.find(ids.get(4));
    assertThat(failed.reason()).isEqualTo("exit code 4");
    assertThat(failed.attempt()).isEqualTo(1);
    client.put(ids.get(4), "note", Map.of("seen", true));
    assertThat(client.data(ids.get(4), "note").path("seen").asBoolean()).isTrue();
    assertThat(client.retry(ids.get(4)).state()).isNotEqualTo(State.FAILED);
    assertThat(client.await(ids, PATIENCE)).isEqualTo(states);
    assertThat(client.find(ids.get(4)).attempt()).isEqualTo(2);
    assertThat(client.list(ids.get(1), List.of(State.SKIPPED, State.FINISHED)).nodes())
        .extracting(Node::id)
        .containsExactly(ids.get(1), ids.get(2), ids.get(3));
    assertThatThrownBy(() -> client.remove(ids.getFirst(), false))
        .isInstanceOf(RejectedException.class);
    assertThat(client.remove(ids.get(1), true)).isEqualTo(3);
    assertThatThrownBy(() -> client.find(ids.get(1))).isInstanceOf(RejectedException.class);
  }

  @Test
  void an_order_delays_a_graph_and_makes_it_unique() throws Exception {
    NewGraph graph = new NewGraph();
    NewNode node = graph.command("true");
    Instant start = Instant.parse("2130-01-31T08:00:00Z");
    GraphOrder order = GraphOrder.DEFAULT.withStart(start).withUnique("nightly & more");
    AddedGraph added = client.add(graph, order);
    assertThat(added.duplicate()).isFalse();
    assertThat(client.add(graph, order)).isEqualTo(new AddedGraph(added.ids(), true));
    String id = added.ids().getFirst();
    assertThat(client.find(id).all().path("notBefore").asLong()).isEqualTo(start.toEpochMilli());
    assertThatThrownBy(() -> client.await(added.ids(), Duration.ofMillis(20)))
        .isInstanceOf(TimeoutException.class);
    assertThat(client.kill(added.ids())).isEqualTo(Map.of(id, State.KILLED));
    assertThat(client.run(graph, order.with("at", "1000"), PATIENCE).values())
        .containsExactly(State.FINISHED);
    GraphOrder once =
        GraphOrder.DEFAULT.withDelay(Duration.ofMillis(10)).withRequestId("drawn at random");
    String first = client.add(graph, once).ids().getFirst();
    assertThat(client.add(graph, once)).isEqualTo(new AddedGraph(List.of(first), true));
    assertThat(client.await(List.of(first), PATIENCE)).isEqualTo(Map.of(first, State.FINISHED));
    assertThatThrownBy(() -> new NewGraph().command("true").below(node))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> client.add(JsonMapper.shared().readTree("[{\"metadata\": {}}]"), once))
        .isInstanceOf(RejectedException.class)
        .hasMessageContaining("new node 1");
  }

  @Test
  void nodes_and_long_texts_have_pages() throws Exception {
    NewGraph graph = new NewGraph();
    NewNode top = graph.shell("head -c 300000 /dev/zero | tr '\\0' x");
    for (int i = 0; i < 1_200; i++) {
      var _ = graph.node("group", Map.of()).below(top);
    }
    Map<String, State> states = client.run(graph, GraphOrder.DEFAULT, PATIENCE);
    String first = states.keySet().iterator().next();
    assertThat(states.values()).hasSize(1_201).containsOnly(State.FINISHED);
    assertThat(client.output(first)).hasSize(300_000).doesNotContain("y");
    List<String> listed = new ArrayList<>();
    NodePage page = client.list(first, List.of());
    int pages = 1;
    page.nodes().forEach(node -> listed.add(node.id()));
    for (NodePage.Next next = page.next(); next != null; next = page.next()) {
      page = client.list(next);
      pages++;
      page.nodes().forEach(node -> listed.add(node.id()));
    }
    assertThat(listed).containsExactlyInAnyOrderElementsOf(states.keySet());
    assertThat(pages).isGreaterThan(1);
  }
}
