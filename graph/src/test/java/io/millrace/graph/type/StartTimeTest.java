package io.millrace.graph.type;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.graph.NewNode;
import io.millrace.graph.NewNode.NodeRef;
import io.millrace.graph.NewNode.Place;
import io.millrace.graph.NodeId;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class StartTimeTest {
  private static final Instant TIME = Instant.parse("2030-01-31T08:00:00Z");

  /** A node by {@code NAME parents after}, with commas; a name in capitals is that of a group. */
  private static NewNode node(String name, String parents, String after, String data) {
    Map<String, JsonNode> values = new TreeMap<>();
    JsonMapper.shared()
        .readTree(data.replace('\'', '"'))
        .properties()
        .forEach(value -> values.put(value.getKey(), value.getValue()));
    boolean group = name.equals(name.toUpperCase(java.util.Locale.ROOT));
    return new NewNode(
        name,
        null,
        group ? "group" : "command",
        new Place(refs(parents), refs(after), null),
        false,
        values);
  }

  private static NewNode node(String name, String parents, String after) {
    return node(name, parents, after, "{}");
  }

  private static List<NodeRef> refs(String names) {
    return Arrays.stream(names.split(",", -1))
        .filter(name -> !name.isEmpty())
        .map(name ->
            NodeId.parse(name)
                .<NodeRef>map(NodeRef.Existing::new)
                .orElseGet(() -> new NodeRef.Local(name)))
        .toList();
  }

  /** The times of the nodes that have one. */
  private static Map<String, String> times(NewNode... nodes) {
    Map<String, String> times = new TreeMap<>();
    for (NewNode node : StartTime.at(TIME, List.of(nodes))) {
      JsonNode at = node.data().get("at");
      if (at != null) {
        times.put(String.valueOf(node.local()), at.asString());
      }
    }
    return times;
  }

  @Test
  void the_nodes_that_wait_for_no_other_one_wait_for_the_time() {
    assertThat(
            times(
                node("a", "", ""),
                node("b", "a", ""),
                node("c", "", "a"),
                node("d", "17", ""),
                node("e", "17,b", "")))
        .containsOnlyKeys("a", "d")
        .containsValue("2030-01-31T08:00:00Z");
  }

  @Test
  void what_is_in_a_group_waits_and_what_follows_it_waits_for_the_group() {
    assertThat(
            times(
                node("G", "", ""),
                node("a", "G", ""),
                node("H", "G", ""),
                node("b", "H", ""),
                node("c", "", "G"),
                node("d", "a", "H")))
        .containsOnlyKeys("a", "b");
    assertThat(times(node("a", "", ""), node("G", "a", ""), node("b", "G", "")))
        .containsOnlyKeys("a");
    // A group with nothing in it ends at once.
    assertThat(times(node("G", "", ""), node("H", "G", ""), node("a", "", "G")))
        .containsOnlyKeys("a");
  }

  @Test
  void a_later_time_of_a_node_is_kept_and_its_delay_counts_from_the_time() {
    assertThat(
            times(
                node("late", "", "", "{'at': '2031-01-01T00:00:00Z'}"),
                node("early", "", "", "{'at': 1000, 'delay': '1h'}"),
                node("delayed", "", "", "{'delay': '10m'}"),
                node("below", "17", "", "{'delay': '10m'}")))
        .isEqualTo(
            Map.of(
                "late", "2031-01-01T00:00:00Z",
                "early", "2030-01-31T09:00:00Z",
                "delayed", "2030-01-31T08:10:00Z",
                "below", "2030-01-31T08:00:00Z"));
  }

  @Test
  void mistakes_are_left_to_the_graph() {
    assertThat(
            times(
                node("A", "B", ""),
                node("B", "A", ""),
                node("x", "nobody", "", "{'at': 'noon'}"),
                node("y", "B", "y")))
        .isEqualTo(Map.of("x", "noon"));
  }
}
