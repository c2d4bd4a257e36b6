package io.millrace.graph.store;

import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.StaleViewException;
import io.millrace.graph.GraphRegistry.Page;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * Lists that are read page by page, as they were at the first page. They are kept for ten minutes;
 * if there are many, only the newest are kept. Safe for use by any number of threads.
 */
final class PagedViews<T> {
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
      throw new StaleViewException("this list is not kept any more; begin again at its first page");
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
