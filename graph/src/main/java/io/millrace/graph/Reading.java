package io.millrace.graph;

import java.time.InstantSource;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Reads lists and data, page by page. Safe for use by any number of threads. */
final class Reading {
  private final Published published;
  private final Ledger ledger;
  private final Contents contents;
  private final Inputs inputs;
  private final Views<GraphNode> nodes;
  private final Views<String> keys;
  private volatile GraphWork.Outputs outputs = (_, _) -> null;

  Reading(StoredGraph.Parts parts, InstantSource clock, Names names) {
    this.published = parts.published();
    this.ledger = parts.ledger();
    this.contents = parts.contents();
    this.inputs = parts.inputs();
    this.nodes = new Views<>(clock, names);
    this.keys = new Views<>(clock, names);
  }

  void readOutputsFrom(GraphWork.Outputs source) {
    outputs = source;
  }

  Page<GraphNode> nodes(NodeFilter filter, Page.@Nullable Wanted wanted) {
    return wanted == null ? nodes.first(published.list(filter)) : nodes.next(wanted);
  }

  Page<String> keys(NodeId id, Page.@Nullable Wanted wanted) {
    GraphNode node = published.node(id);
    if (wanted != null) {
      return keys.next(wanted);
    }
    TreeSet<String> all = new TreeSet<>(inputs.written(node.definition()));
    all.addAll(stored(id).values().keySet());
    return keys.first(List.copyOf(all));
  }

  private NodeData stored(NodeId id) {
    return ledger.data(id).orElse(NodeData.EMPTY);
  }

  /** The data that a node's type reads. */
  GraphWork.Item item(GraphNode node) {
    return new GraphWork.Item(
        node, contents.values(stored(node.id()), inputs.read(node.definition())));
  }

  DataPage data(NodeId id, String key, @Nullable String view, int slot) {
    if (slot < 0) {
      throw new InvalidGraphException("no page has the number " + slot);
    }
    DataPage page = page(id, key, slot);
    if (view != null && !view.equals(page.view())) {
      throw new StaleViewException(
          "\"" + key + "\" of node " + id + " was changed since; begin again at its first page");
    }
    return page;
  }

  private DataPage page(NodeId id, String key, int slot) {
    GraphNode node = published.node(id);
    boolean output = inputs.written(node.definition()).contains(key);
    if (output) {
      Tail tail = outputs.of(id, key);
      // What has ended is stored before its output is taken away.
      GraphNode now = published.node(id);
      if (tail != null && now.phase() instanceof Phase.Running running) {
        return Recordings.page(tail, StoredValue.viewOf(running.attempt()), slot);
      }
    }
    StoredValue value = stored(id).values().get(key);
    if (value != null) {
      return contents.page(value, slot);
    }
    if (!output) {
      throw new UnknownKeyException(id, key);
    }
    GraphNode now = published.node(id);
    String view = StoredValue.viewOf(now.phase().attempt());
    boolean growing = now.phase() instanceof Phase.Running;
    return new DataPage(Json.text(""), view, slot, null, growing);
  }
}
