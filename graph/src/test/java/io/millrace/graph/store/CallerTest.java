package io.millrace.graph.store;

import static io.millrace.graph.GraphForms.after;
import static io.millrace.graph.GraphForms.below;
import static io.millrace.graph.GraphForms.form;
import static io.millrace.graph.GraphForms.refs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.graph.Caller;
import io.millrace.graph.GraphException.NotAllowedException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphRegistry.DataWrite;
import io.millrace.graph.GraphRegistry.Removal;
import io.millrace.graph.Kill;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Outcome;
import java.nio.file.Path;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a command that runs may do. */
class CallerTest {
  private final GraphFixture world;
  private final NodeId parent;
  private final NodeId own;
  private final NodeId child;
  private final NodeId sibling;
  private final Caller self;

  CallerTest(@TempDir Path folder) {
    world = new GraphFixture(folder);
    parent = world.addOne("command");
    own = world.addOne("command", parent);
    child = world.addOne("command", own);
    sibling = world.addOne("command", parent);
    self = new Caller.RunningNode(own, 1);
  }

  @BeforeEach
  void begin() {
    world.finish(parent);
    var _ = world.start(own);
  }

  @AfterEach
  void end() {
    world.close();
  }

  private GraphRegistry registry() {
    return world.registry();
  }

  private static void assertNotAllowed(ThrowingCallable call) {
    assertThatThrownBy(call).isInstanceOf(NotAllowedException.class);
  }

  private void put(NodeId id) {
    var _ = registry().put(self, id, "note", new DataWrite.Whole(Json.text("x")), null);
  }

  @Test
  void it_adds_nodes_below_itself_only() {
    List<GraphNode> added =
        registry()
            .add(
                self,
                List.of(
                    form("a", "command", below(own)),
                    form(null, "command", below("a")),
                    form("command", child)));
    assertThat(added).hasSize(3);
    assertNotAllowed(() -> registry().add(self, List.of(form("command"))));
    assertNotAllowed(() -> registry().add(self, List.of(form("command", sibling))));
    assertNotAllowed(() -> registry().add(self, List.of(form("command", own, sibling))));
    NewNode.Place late = new NewNode.Place(refs(own), refs(sibling), null);
    assertNotAllowed(() -> registry().add(self, List.of(form(null, "command", late))));
  }

  @Test
  void what_state_a_node_outside_is_in_is_not_its_business() {
    NodeId ended = world.addOne("group");
    assertNotAllowed(() -> registry().add(self, List.of(form("command", ended))));
  }

  @Test
  void it_changes_what_is_below_it_only() {
    NodeId deep = registry().add(self, List.of(form("command", child))).getFirst().id();
    assertThat(registry().rename(self, deep, "deep", null).name()).isEqualTo("deep");
    assertThat(registry().move(self, deep, below(own), null).definition().parents())
        .containsExactly(own);
    registry().kill(self, List.of(deep), Kill.DEFAULT);
    assertThat(registry().retry(self, deep, null).state()).isEqualTo(NodeState.INCIPIENT);
    assertThat(registry().remove(self, deep, Removal.SUBTREE, null)).isEqualTo(1);

    assertNotAllowed(() -> registry().rename(self, own, "own", null));
    assertNotAllowed(() -> registry().move(self, child, NewNode.Place.ROOT, null));
    assertNotAllowed(() -> registry().kill(self, List.of(sibling), Kill.DEFAULT));
    assertNotAllowed(() -> registry().remove(self, sibling, Removal.SUBTREE, null));
    NodeId outside = world.addOne(form(null, "command", after(child)));
    assertNotAllowed(() -> registry().remove(self, child, Removal.SUBTREE, null));
    assertNotAllowed(() -> registry().remove(self, child, Removal.ALONE, null));
    assertThat(world.state(outside)).isEqualTo(NodeState.INCIPIENT);
  }

  @Test
  void it_changes_the_data_of_itself_its_parents_and_what_is_below_it() {
    put(own);
    put(parent);
    put(child);
    assertNotAllowed(() -> put(sibling));
  }

  @Test
  void once_its_attempt_is_over_it_may_do_nothing() {
    world.end(own, new Outcome.Failed("it broke"));
    assertNotAllowed(() -> put(child));
    var _ = registry().retry(Caller.ANYONE, own, null);
    var _ = world.start(own);
    assertNotAllowed(() -> put(child));
    assertNotAllowed(() -> registry().add(self, List.of(form("command", own))));
  }
}
