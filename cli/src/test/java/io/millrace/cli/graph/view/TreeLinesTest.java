package io.millrace.cli.graph.view;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class TreeLinesTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final long NOW = 100_000;

  private static NodeView node(long id, String state, String more, long... parents) {
    JsonNode json =
        JSON.readTree(
            "{\"id\":\"%d\",\"type\":\"command\",\"state\":\"%s\",\"parents\":[%s]%s}"
                .formatted(id, state, ids(parents), more.isEmpty() ? "" : "," + more));
    return NodeView.of(json);
  }

  private static String ids(long... ids) {
    List<String> texts = new ArrayList<>();
    for (long id : ids) {
      texts.add("\"" + id + "\"");
    }
    return String.join(",", texts);
  }

  private static String lines(List<NodeView> nodes, int limit) {
    return String.join("\n", TreeLines.of(nodes, limit, NodeLine.Colours.OFF, NOW));
  }

  @Test
  void the_news_of_a_start_does_not_say_how_long_ago_that_was() {
    assertThat(NodeLine.of(node(2, "running", "\"started\":35000"), NodeLine.Colours.OFF, NOW))
        .isEqualTo("● 2 [command]  running");
    assertThat(
            NodeLine.of(
                node(3, "failed", "\"started\":1000,\"ended\":3000,\"reason\":\"no\""),
                NodeLine.Colours.OFF,
                NOW))
        .isEqualTo("✗ 3 [command]  failed 2.0s: no");
  }

  @Test
  void each_node_stands_once_below_its_first_parent() {
    assertThat(
            lines(
                List.of(
                    node(1, "finished", "\"name\":\"get\",\"started\":1000,\"ended\":1420"),
                    node(2, "running", "\"started\":35000", 1),
                    node(3, "failed", "\"reason\":\"exit code 1\",\"attempt\":2", 1),
                    node(4, "blocked", "\"reason\":\"node 3 failed\"", 2, 3),
                    node(5, "ready", "\"notBefore\":105000,\"branch\":\"else\"", 2),
                    node(6, "incipient", "\"after\":[\"1\",\"2\"],\"reason\":\"waits\""),
                    node(7, "running", "\"killing\":true,\"started\":99000", 8)),
                100))
        .isEqualTo(
            """
            ✓ 1 get  finished 0.4s
            ├─ ● 2 [command]  running 1m05s
            │  ├─ ! 4 [command]  blocked, also below 3: node 3 failed
            │  └─ ○ 5 [command]  ready in 5.0s, else
            └─ ✗ 3 [command]  failed, attempt 2: exit code 1
            · 6 [command]  incipient, after 1, 2
            ● 7 [command]  ending 1.0s\
            """);
  }

  @Test
  void where_there_are_more_nodes_than_lines_what_matters_comes_first() {
    List<NodeView> nodes = new ArrayList<>();
    for (int i = 1; i <= 1_000; i++) {
      nodes.add(node(i, "finished", ""));
    }
    nodes.add(node(1_001, "running", "\"name\":\"now\"", 1_000));
    for (int i = 0; i < 50; i++) {
      nodes.add(node(1_002 + i, "incipient", "", i == 0 ? 1_001 : 1_002));
    }
    assertThat(lines(nodes, 5))
        .isEqualTo(
            """
            ✓ 1000 [command]  finished
            └─ ● 1001 now  running
               └─ · 1002 [command]  incipient (and 49 below, all incipient)
            ✓ 1 [command]  finished
            ✓ 2 [command]  finished
            … and 997 more\
            """);
  }

  @Test
  void a_chain_of_a_hundred_thousand_nodes_is_no_matter() {
    List<NodeView> nodes = new ArrayList<>();
    nodes.add(node(1, "failed", ""));
    for (int i = 2; i <= 100_000; i++) {
      nodes.add(node(i, i % 2 == 0 ? "running" : "ready", "", i - 1));
    }
    List<String> lines = TreeLines.of(nodes, 50, NodeLine.Colours.OFF, NOW);
    assertThat(lines).hasSize(51).last().isEqualTo("… and 99,950 more");
    assertThat(lines).allMatch(line -> line.length() < 120);
  }

  @Test
  void names_and_reasons_cannot_steer_a_terminal() {
    NodeView node = node(1, "failed", "\"name\":\"a\\u001b[2J\",\"reason\":\"b\\nc\"");
    assertThat(lines(List.of(node), 10)).isEqualTo("✗ 1 a·[2J  failed: b·c");
  }

  @Test
  void states_have_colours_on_a_screen() {
    List<String> lines = TreeLines.of(List.of(node(1, "failed", "")), 10, NodeLine.Colours.ON, NOW);
    assertThat(lines).containsExactly("\033[31m✗\033[0m 1 [command]  \033[31mfailed\033[0m");
  }

  @Test
  void durations_are_short() {
    assertThat(NodeLine.duration(-5)).isEqualTo("0.0s");
    assertThat(NodeLine.duration(9_940)).isEqualTo("9.9s");
    assertThat(NodeLine.duration(59_999)).isEqualTo("59s");
    assertThat(NodeLine.duration(3_599_000)).isEqualTo("59m59s");
    assertThat(NodeLine.duration(90_061_000)).isEqualTo("25h01m");
  }
}
