package io.millrace.graph.store;

import io.millrace.blobs.Tail;
import io.millrace.graph.GraphException;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.StaleViewException;
import io.millrace.graph.GraphException.UnknownKeyException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry.DataPage;
import io.millrace.graph.GraphRegistry.Page;
import io.millrace.graph.GraphWork;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.Phase;
import io.millrace.graph.store.NodeData.StoredValue;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Reads lists and data, page by page. Safe for use by any number of threads. */
final class DataReader {
  /**
   * How often an attempt that is not found yet is looked for; {@link #LOOK} is the time of each.
   */
  private static final int LOOKS = 50;

  private static final Duration LOOK = Duration.ofMillis(200);

  private final ReadModel readModel;
  private final GraphSession session;
  private final ValueStore values;
  private final DataRules rules;
  private final PagedViews<GraphNode> nodes;
  private final PagedViews<String> keys;
  private volatile GraphWork.Outputs outputs = (_, _) -> null;

  DataReader(StoredGraph.Parts parts, InstantSource clock, RandomNames names) {
    this.readModel = parts.readModel();
    this.session = parts.session();
    this.values = parts.values();
    this.rules = parts.rules();
    this.nodes = new PagedViews<>(clock, names);
    this.keys = new PagedViews<>(clock, names);
  }

  void readOutputsFrom(GraphWork.Outputs source) {
    outputs = source;
  }

  Page<GraphNode> nodes(NodeFilter filter, Page.@Nullable Wanted wanted) {
    if (wanted != null) {
      return nodes.next(wanted);
    }
    ReadModel.Listing listing = readModel.listing(filter);
    return nodes.first(
        listing.nodes(), listing::explained, listing.all().size(), listing.version());
  }

  Page<String> keys(NodeId id, Page.@Nullable Wanted wanted) {
    GraphNode node = readModel.node(id);
    if (wanted != null) {
      return keys.next(wanted);
    }
    long version = readModel.version();
    TreeSet<String> all = new TreeSet<>(rules.written(node.definition()));
    all.addAll(stored(id).values().keySet());
    return keys.first(List.copyOf(all), version);
  }

  private NodeData stored(NodeId id) {
    return session.data(id);
  }

  /** The data that a node's type reads. */
  GraphWork.Item item(GraphNode node) {
    return new GraphWork.Item(
        node, values.values(stored(node.id()), rules.read(node.definition())));
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
    GraphNode node = readModel.node(id);
    boolean output = rules.written(node.definition()).contains(key);
    if (output) {
      Tail tail = tail(id, key);
      // The output of an ended attempt is stored before the attempt is removed.
      GraphNode now = readModel.node(id);
      if (tail != null && now.phase() instanceof Phase.Running running) {
        return TextPages.page(tail, StoredValue.viewOf(running.attempt()), slot);
      }
    }
    StoredValue value = stored(id).values().get(key);
    if (value != null) {
      return values.page(value, slot);
    }
    if (!output) {
      throw new UnknownKeyException(id, key);
    }
    GraphNode now = readModel.node(id);
    String view = StoredValue.viewOf(now.phase().attempt());
    boolean growing = now.phase() instanceof Phase.Running;
    return new DataPage(Json.text(""), view, slot, null, growing);
  }

  /**
   * The output of a running node; null if there is none.
   *
   * @throws GraphException if that is not known yet, for example after a restart
   */
  private @Nullable Tail tail(NodeId id, String key) {
    try {
      for (int look = 0; look < LOOKS; look++) {
        Tail tail = outputs.of(id, key);
        if (tail != null || !(readModel.node(id).phase() instanceof Phase.Running)) {
          return tail;
        }
        if (outputs.isKnown(id, LOOK)) {
          return outputs.of(id, key);
        }
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    throw new GraphException(
        "node " + id + " runs and is still looked for after a restart; ask again for its output");
  }
}
