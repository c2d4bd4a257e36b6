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
import io.millrace.graph.store.ValueStore.RandomNames;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
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
    this(parts.readModel(), parts.session(), parts.values(), parts.rules(), clock, names);
  }

  DataReader(
      ReadModel readModel,
      GraphSession session,
      ValueStore values,
      DataRules rules,
      InstantSource clock,
      RandomNames names) {
    this.readModel = readModel;
    this.session = session;
    this.values = values;
    this.rules = rules;
    this.nodes = new PagedViews<>(clock, names);
    this.keys = new PagedViews<>(clock, names);
  }

  void readOutputsFrom(GraphWork.Outputs source) {
    outputs = source;
  }

  Page<GraphNode> nodes(NodeFilter filter, @Nullable String text, Page.@Nullable Wanted wanted) {
    if (wanted != null) {
      return nodes.next(wanted);
    }
    ReadModel.Listing listing =
        readModel.listing(filter).with(NodeSearch.having(text, session, rules));
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

  /**
   * Lists that are read page by page, as they were at the first page. They are kept for ten
   * minutes; if there are many, only the newest are kept. Safe for use by any number of threads.
   */
  static final class PagedViews<T> {
    static final int PAGE = 1_000;

    /** The most items of all lists together; the newest list is kept even if it has more. */
    static final int MAX_ITEMS = 1_000_000;

    static final Duration KEPT = Duration.ofMinutes(10);

    /**
     * A list.
     *
     * @param finish turns a part of it into what is shown
     * @param weight the number of items for which it counts
     * @param version the version of the graph
     */
    private record View<T>(
        List<T> items, UnaryOperator<List<T>> finish, int weight, long version, long sinceMillis) {
      Page<T> page(String name, int from) {
        int to = Math.min(items.size(), from + PAGE);
        return new Page<>(
            finish.apply(items.subList(from, to)),
            name,
            to < items.size() ? Integer.toString(to) : null,
            version);
      }
    }

    private final InstantSource clock;
    private final RandomNames names;
    private final Map<String, View<T>> views = new LinkedHashMap<>();
    private long items;

    PagedViews(InstantSource clock, RandomNames names) {
      this.clock = clock;
      this.names = names;
    }

    /** The first page of a list, at a version of the graph. */
    Page<T> first(List<T> all, long version) {
      return first(all, UnaryOperator.identity(), all.size(), version);
    }

    /**
     * The first page of a list.
     *
     * @param finish turns a part of it into what is shown
     * @param weight the number of items for which it counts
     * @param version the version of the graph
     */
    Page<T> first(List<T> all, UnaryOperator<List<T>> finish, int weight, long version) {
      String name = names.next();
      View<T> view = new View<>(all, finish, weight, version, clock.millis());
      if (all.size() > PAGE) {
        keep(name, view);
      }
      return view.page(name, 0);
    }

    private synchronized void keep(String name, View<T> view) {
      forget();
      views.put(name, view);
      items += view.weight;
      Iterator<View<T>> oldest = views.values().iterator();
      while (items > MAX_ITEMS && views.size() > 1) {
        items -= oldest.next().weight;
        oldest.remove();
      }
    }

    private void forget() {
      long before = clock.millis() - KEPT.toMillis();
      views
          .values()
          .removeIf(view -> {
            boolean old = view.sinceMillis < before;
            items -= old ? view.weight : 0;
            return old;
          });
    }

    private synchronized View<T> kept(String name) {
      forget();
      View<T> view = views.get(name);
      if (view == null) {
        throw new StaleViewException(
            "this list is not kept any more; begin again at its first page");
      }
      return view;
    }

    /**
     * Another page.
     *
     * @throws StaleViewException if the list is no longer kept
     * @throws InvalidGraphException if no page starts there
     */
    Page<T> next(Page.Wanted wanted) {
      View<T> view = kept(wanted.view());
      int from;
      try {
        from = Integer.parseInt(wanted.start());
      } catch (NumberFormatException _) {
        from = -1;
      }
      if (from < 0 || from > view.items.size()) {
        throw new InvalidGraphException("no page of this list starts at " + wanted.start());
      }
      return view.page(wanted.view(), from);
    }
  }
}
