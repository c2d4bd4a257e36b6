package io.millrace.server.graph;

import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Which nodes a request is about. */
final class Filters {
  private Filters() {}

  /**
   * The parameters {@code type}, {@code state} or {@code status}, {@code below} and {@code new};
   * the first two may hold several, with commas.
   *
   * @throws HttpProblem 400 where one is wrong
   */
  static NodeFilter of(Query query) {
    Set<NodeState> states = new LinkedHashSet<>();
    words(query, "state").forEach(word -> states.add(state("state", word)));
    words(query, Selected.STATUS).forEach(word -> states.add(state(Selected.STATUS, word)));
    return new NodeFilter(words(query, "type"), states, below(query), newerThan(query));
  }

  private static Set<String> words(Query query, String name) {
    Set<String> words = new LinkedHashSet<>();
    for (String text : query.texts(name)) {
      words.addAll(List.of(text.split(",", -1)));
    }
    words.remove("");
    return words;
  }

  private static NodeState state(String name, String word) {
    return NodeState.of(word)
        .orElseThrow(() -> {
          String states =
              Arrays.stream(NodeState.values())
                  .map(NodeState::word)
                  .collect(Collectors.joining(", "));
          return HttpProblem.malformed(
              "the parameter " + name + " must be out of " + states + ", not " + word);
        });
  }

  private static @Nullable NodeId below(Query query) {
    String given = query.text("below").orElse("");
    return given.isEmpty() || given.equals(NodeShape.ROOT) ? null : id("below", given);
  }

  private static long newerThan(Query query) {
    Optional<String> given = query.text("new");
    return given.isEmpty() || given.get().equals("0") ? 0 : id("new", given.get()).value();
  }

  private static NodeId id(String name, String text) {
    return NodeId.parse(text)
        .orElseThrow(
            () -> HttpProblem.malformed("the parameter " + name + " must be an id, not " + text));
  }
}
