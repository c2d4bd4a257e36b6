package io.millrace.graph.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.graph.Caller;
import io.millrace.graph.GraphChanges;
import io.millrace.graph.GraphException;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.VersionLostException;
import io.millrace.graph.GraphForms;
import io.millrace.graph.GraphNode;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.store.DocumentKey;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Owner;
import io.millrace.store.StoreException;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several that change one graph, and a store that fails. */
class SharedWritingTest {
  private static final int THREADS = 8;
  private static final int EACH = 50;

  private final GraphFixture world;

  SharedWritingTest(@TempDir Path folder) {
    world = new GraphFixture(folder);
  }

  @AfterEach
  void end() {
    world.close();
  }

  @Test
  void many_threads_get_ids_of_their_own_and_versions_that_grow() throws Exception {
    List<NodeId> all = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Callable<List<NodeId>> work =
          () -> {
            List<NodeId> ids = new ArrayList<>();
            for (int i = 0; i < EACH; i++) {
              ids.add(world.addOne("command"));
              assertThatThrownBy(() -> world.addOne("command", new NodeId(1_000_000)))
                  .isInstanceOf(InvalidGraphException.class);
            }
            return ids;
          };
      List<Future<List<NodeId>>> running = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        running.add(threads.submit(work));
      }
      for (Future<List<NodeId>> each : running) {
        all.addAll(each.get());
      }
    }
    assertThat(all).hasSize(THREADS * EACH).doesNotHaveDuplicates();
    assertThat(world.registry().snapshot(NodeFilter.ALL).nodes())
        .extracting(GraphNode::id)
        .containsExactlyInAnyOrderElementsOf(all);
  }

  @Test
  void a_change_whose_answer_was_lost_is_made_once() {
    int[] calls = {0};
    for (int lost = 1; lost <= 6; lost++) {
      int which = lost;
      calls[0] = 0;
      world.breakLine(() -> ++calls[0] == which);
      int before = world.registry().snapshot(NodeFilter.ALL).nodes().size();
      try {
        NodeId id = world.addOne("command");
        assertThat(world.state(id)).isEqualTo(NodeState.READY);
      } catch (StoreException _) {
        // The call never reached the store; the next one finds the graph again.
        NodeId id = world.addOne("command");
        assertThat(world.state(id)).isEqualTo(NodeState.READY);
      }
      assertThat(world.registry().snapshot(NodeFilter.ALL).nodes()).hasSize(before + 1);
    }
  }

  @Test
  void a_commit_that_fails_for_a_reason_nobody_foresaw_leaves_the_outcome_unknown() {
    NodeId first = world.addOne("command");
    // Only the last call of an addition is the answer to its commit.
    int[] calls = {0};
    world.breakLine(() -> ++calls[0] < 0);
    NodeId second = world.addOne("command");
    int last = calls[0];
    calls[0] = 0;
    world.breakLine(() -> {
      if (++calls[0] == last) {
        throw new IllegalStateException("a mistake");
      }
      return false;
    });
    assertThatThrownBy(() -> world.addOne("command"))
        .isInstanceOf(OutcomeUnknownException.class)
        .hasMessageContaining("a mistake");
    world.breakLine(() -> false);
    NodeId next = world.addOne("command");
    assertThat(List.of(first, second, next)).isSorted();
    assertThat(world.registry().snapshot(NodeFilter.ALL).nodes()).hasSize(4);
  }

  @Test
  void a_graph_that_somebody_else_has_changed_is_read_again() {
    NodeId first = world.addOne("command");
    StoredGraph other = world.another();
    NodeId second = other.registry().add(Caller.ANYONE, forms()).getFirst().id();
    assertThat(world.registry().node(second)).isEmpty();

    NodeId third = world.addOne("command");

    assertThat(List.of(first, second, third)).isSorted().doesNotHaveDuplicates();
    assertThat(world.registry().node(second)).isPresent();
    assertThat(other.registry().add(Caller.ANYONE, forms()).getFirst().id()).isGreaterThan(third);
  }

  private static List<NewNode> forms() {
    return List.of(GraphForms.form("command"));
  }

  @Test
  void a_stream_of_changes_says_when_some_were_missed() {
    try (GraphChanges changes = world.registry().changes(null)) {
      StoredGraph other = world.another();
      var _ = other.registry().add(Caller.ANYONE, forms());
      var _ = world.addOne("command");
      assertThatThrownBy(() -> changes.next(Duration.ZERO))
          .isInstanceOf(VersionLostException.class);
    }
  }

  @Test
  void a_damaged_document_is_named() {
    NodeId id = world.addOne("command");
    DocumentKey key = Keys.node(id);
    world
        .store()
        .commit(
            Transaction.by(Owner.client(1))
                .put(key, DocumentVersion.ANY, Json.write(Json.object()))
                .build())
        .done();
    assertThatThrownBy(world::restart)
        .isInstanceOf(GraphException.class)
        .hasMessageContaining("graph.nodes/0000000000000001 is damaged");
  }
}
