package io.millrace.server.graph;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.graph.Caller;
import io.millrace.graph.Definition;
import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import io.millrace.graph.Timing;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What the tokens of running commands say, and for how long. */
final class GraphTokensTest {
  private static final NodeId NODE = new NodeId(12);

  private Phase phase = new Phase.Running(Phase.Attempts.of(3), 1, false);
  private final GraphTokens tokens = tokens("secret");

  private GraphTokens tokens(String secret) {
    return new GraphTokens(
        () -> secret.getBytes(StandardCharsets.US_ASCII),
        id -> id.equals(NODE) ? Optional.of(node()) : Optional.empty());
  }

  private GraphNode node() {
    Definition definition =
        new Definition("command", Kind.WORK, List.of(), List.of(), null, false, Timing.NONE);
    return new GraphNode(NODE, null, definition, phase, NodeState.RUNNING, "", 0, 1);
  }

  @Test
  void a_token_names_its_node_and_attempt_while_that_runs() {
    String token = tokens.of(NODE, 3);
    assertThat(token).startsWith("graph-12-3-");
    assertThat(tokens.holder(token)).contains(new Caller.RunningNode(NODE, 3));
    phase = new Phase.Running(Phase.Attempts.of(3), 1, true);
    assertThat(tokens.holder(token)).isPresent();
    phase = new Phase.Waiting(Phase.Attempts.of(3), 0, "");
    assertThat(tokens.holder(token)).isEmpty();
    phase = new Phase.Running(Phase.Attempts.of(4), 1, false);
    assertThat(tokens.holder(token)).isEmpty();
  }

  @Test
  void no_token_can_be_made_from_another() {
    String token = tokens.of(NODE, 2);
    assertThat(tokens.holder(token.replace("graph-12-2", "graph-12-3"))).isEmpty();
    assertThat(tokens.holder(tokens("another").of(NODE, 3))).isEmpty();
    assertThat(tokens.holder(tokens.of(new NodeId(13), 3))).isEmpty();
    assertThat(tokens.of(NODE, 3)).isNotEqualTo(tokens.of(new NodeId(1), 23));
  }

  @Test
  void other_texts_are_no_tokens() {
    String token = tokens.of(NODE, 3);
    for (String text :
        List.of(
            "",
            "secret",
            token + "x",
            token.substring(1),
            token.replace("-3-", "-03-"),
            token.replace("-12-", "-99999999999999999-"))) {
      assertThat(tokens.caller(_ -> "Bearer " + text)).as(text).isNull();
      assertThat(tokens.holder(text)).as(text).isEmpty();
    }
    assertThat(tokens.holder(token.replace("-12-", "-9999999999999999-"))).isEmpty();
  }
}
