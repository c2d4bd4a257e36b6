package io.millrace.graph.store;

import io.millrace.blobs.Value;
import io.millrace.graph.GraphNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.store.NodeData.StoredValue;
import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.work.filter.Condition;
import io.millrace.work.filter.Prefilter;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Finds nodes by a text. The documents of the data of all nodes are looked at on all processors;
 * those that lack the text are passed over without being parsed.
 */
final class NodeSearch {
  /** The first page of documents, which one processor looks at alone. */
  private static final int PAGE = 500;

  private final DataRules rules;
  private final Condition wanted;

  /** The keys of data in which the text is, by node. */
  private final Map<NodeId, Set<String>> found = new HashMap<>();

  private NodeSearch(DataRules rules, String text) {
    this.rules = rules;
    this.wanted = new Condition.Contains(text.toLowerCase(Locale.ROOT));
  }

  /** What holds for the nodes that have a text now; for all if the text is null. */
  static Predicate<GraphNode> having(@Nullable String text, GraphSession session, DataRules rules) {
    if (text == null) {
      return _ -> true;
    }
    NodeSearch search = new NodeSearch(rules, text);
    Predicate<Bytes> mayMatch = Prefilter.containing(text);
    session
        .scan(
            new DocumentQuery(Keys.DATA, "", "", PAGE),
            Long.MAX_VALUE,
            document -> mayMatch.test(document.body()) ? search.match(document) : null)
        .forEachRemaining(match -> search.found.put(match.id(), match.keys()));
    return search::isIn;
  }

  /**
   * The text is in the data of a node.
   *
   * @param keys where
   */
  private record Match(NodeId id, Set<String> keys) {}

  private @Nullable Match match(Document document) {
    Set<String> keys =
        NodeData.read(document).values().entrySet().stream()
            .filter(each -> wanted.test(shown(each.getValue())))
            .map(Map.Entry::getKey)
            .collect(Collectors.toUnmodifiableSet());
    return keys.isEmpty() ? null : new Match(Keys.id(document.key()), keys);
  }

  /** What the document has of a value. */
  private static List<JsonNode> shown(StoredValue value) {
    return switch (value) {
      case StoredValue.Inline inline -> List.of(inline.value());
      case StoredValue.Pages texts ->
          texts.pages().stream()
              .filter(Value.Inline.class::isInstance)
              .map(Value.Inline.class::cast)
              .<JsonNode>map(page -> Json.text(TextPages.of(page.bytes(), true)))
              .toList();
      case StoredValue.Whole _, StoredValue.Recording _ -> List.of();
    };
  }

  private boolean isIn(GraphNode node) {
    return (node.name() != null && wanted.test(List.of(Json.text(node.name()))))
        || !rules.written(node.definition()).containsAll(found.getOrDefault(node.id(), Set.of()));
  }
}
