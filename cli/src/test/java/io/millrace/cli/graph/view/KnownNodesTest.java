package io.millrace.cli.graph.view;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class KnownNodesTest {
  private static List<Long> apply(KnownNodes known, String message) {
    return known.apply(GraphFeed.Message.read(message.getBytes(StandardCharsets.UTF_8))).stream()
        .map(NodeView::id)
        .toList();
  }

  @Test
  void changes_and_removals_are_kept_count_of() {
    KnownNodes known = KnownNodes.all();
    assertThat(
            apply(
                known,
                """
                {"version":7,"nodes":[{"id":"1","type":"command","state":"running","parents":[]},
                {"id":"2","type":"command","state":"incipient","parents":["1"]}]}\
                """))
        .containsExactly(1L, 2L);
    assertThat(known.summary()).isEqualTo("1 incipient, 1 running");
    assertThat(
            apply(
                known,
                """
                {"version":8,"more":{"x":[1]},"changed":[{"id":"1","state":"running"},\
                {"id":"2","state":"ready"}],"removed":[]}\
                """))
        .containsExactly(2L);
    assertThat(known.isSettled()).isFalse();
    apply(
        known,
        "{\"version\":9,\"changed\":[{\"id\":\"1\",\"state\":\"failed\"}],\"removed\":[\"2\"]}");
    assertThat(known.summary()).isEqualTo("1 failed");
    assertThat(known.isSettled()).isTrue();
    assertThat(known.isSuccessful()).isFalse();
  }

  @Test
  void a_whole_graph_replaces_what_was_known() {
    KnownNodes known = KnownNodes.all();
    apply(known, "{\"version\":1,\"nodes\":[{\"id\":\"1\",\"state\":\"running\"}]}");
    assertThat(apply(known, "{\"version\":9,\"nodes\":[{\"id\":\"2\",\"state\":\"skipped\"}]}"))
        .containsExactly(2L);
    assertThat(known.summary()).isEqualTo("1 skipped");
    apply(known, "{\"version\":10,\"nodes\":[]}");
    assertThat(known.summary()).isEqualTo("no nodes");
  }

  @Test
  void a_part_grows_by_what_is_added_below_it_and_after_it() {
    KnownNodes known = KnownNodes.from(List.of(2L));
    apply(
        known,
        """
        {"version":1,"nodes":[{"id":"1","state":"ready"},
        {"id":"2","state":"running","parents":["1"]},
        {"id":"3","state":"incipient","parents":["2"]},
        {"id":"4","state":"what","after":["3"]}]}\
        """);
    assertThat(known.nodes()).extracting(NodeView::id).containsExactly(2L, 3L, 4L);
    assertThat(known.count(State.UNKNOWN)).isEqualTo(1);
  }
}
