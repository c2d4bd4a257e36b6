package io.millrace.graph.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.graph.Caller;
import io.millrace.graph.GraphForms;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry.Page;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.Outcome;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoredGraphTest {
  private final GraphFixture world;

  StoredGraphTest(@TempDir Path folder) {
    world = new GraphFixture(folder);
  }

  @AfterEach
  void end() {
    world.close();
  }

  @Test
  void the_end_of_a_node_makes_ready_what_is_below_it() {
    NodeId top = world.addOne("command");
    NodeId below = world.addOne("command", top);
    assertThat(world.node(below).reason()).isEqualTo("waits for node " + top);
    assertThat(world.work().ready("command", 10, 0)).extracting(GraphNode::id).containsExactly(top);

    var _ = world.start(top);
    assertThat(world.registry().running()).extracting(GraphNode::id).containsExactly(top);
    world.end(top, new Outcome.Finished(null), Map.of("result", Json.text("0")), Map.of());

    assertThat(world.work().ready("command", 10, 0))
        .extracting(GraphNode::id)
        .containsExactly(below);
    assertThat(world.registry().data(top, "result", null, 0).data()).isEqualTo(Json.text("0"));
    assertThat(world.registry().data(top, "stdout", null, 0).data()).isEqualTo(Json.text(""));
  }

  @Test
  void a_graph_that_nobody_uses_writes_nothing() {
    world.restart();

    assertThat(world.store().document(Keys.HEAD).value()).isEmpty();
    assertThat(world.registry().version()).isZero();
  }

  @Test
  void a_restart_finds_the_graph_as_it_was() {
    NodeId top = world.addOne("command");
    NodeId below = world.addOne("command", top);
    world.fail(top);
    List<GraphNode> before = world.registry().snapshot(NodeFilter.ALL).nodes();
    long version = world.registry().version();
    byte[] secret = world.graph().secret();

    world.restart();

    assertThat(world.registry().version()).isEqualTo(version);
    assertThat(world.registry().snapshot(NodeFilter.ALL).nodes())
        .usingRecursiveComparison()
        .ignoringFields("version")
        .isEqualTo(before);
    assertThat(world.node(below).reason()).isEqualTo("node " + top + " failed");
    assertThat(world.graph().secret()).isEqualTo(secret).hasSize(32);
    assertThat(world.addOne("command").value()).isEqualTo(below.value() + 1);
  }

  @Test
  void all_pages_of_a_long_list_have_the_states_and_reasons_of_its_first_moment() {
    NodeId top = world.addOne("command");
    world
        .registry()
        .add(Caller.ANYONE, Collections.nCopies(1_500, GraphForms.form("command", top)));
    Page<GraphNode> first = world.registry().nodes(NodeFilter.ALL, null);
    world.fail(top);

    Page<GraphNode> second =
        world.registry().nodes(NodeFilter.ALL, new Page.Wanted(first.view(), "1000"));

    assertThat(second.items())
        .hasSize(501)
        .extracting(GraphNode::reason)
        .containsOnly("waits for node " + top);
    assertThat(world.registry().nodes(NodeFilter.ALL, null).items().getLast().reason())
        .isEqualTo("node " + top + " failed");
  }
}
