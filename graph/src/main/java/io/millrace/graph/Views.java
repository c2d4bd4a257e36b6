package io.millrace.graph;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Lists that are read page by page, as they were at the first page. Kept for ten minutes, and only
 * the youngest of them where they are many. Safe for use by any number of threads.
 */
final class Views<T> {
  /** The most items of a page. */
  static final int PAGE = 1_000;

  /** How many items all lists together may have; the youngest is kept whatever it has. */
  static final int MOST_ITEMS = 1_000_000;

  static final Duration KEPT = Duration.ofMinutes(10);

  private record View<T>(List<T> items, long sinceMillis) {}

  private final InstantSource clock;
  private final Names names;
  private final Map<String, View<T>> views = new LinkedHashMap<>();
  private long items;

  Views(InstantSource clock, Names names) {
    this.clock = clock;
    this.names = names;
  }

  /** The first page of a list. */
  Page<T> first(List<T> all) {
    String name = names.next();
    if (all.size() > PAGE) {
      keep(name, new View<>(all, clock.millis()));
    }
    return page(name, all, 0);
  }

  private synchronized void keep(String name, View<T> view) {
    forget();
    views.put(name, view);
    items += view.items.size();
    Iterator<View<T>> oldest = views.values().iterator();
    while (items > MOST_ITEMS && views.size() > 1) {
      items -= oldest.next().items.size();
      oldest.remove();
    }
  }

  private void forget() {
    long before = clock.millis() - KEPT.toMillis();
    views
        .values()
        .removeIf(view -> {
          boolean old = view.sinceMillis < before;
          items -= old ? view.items.size() : 0;
          return old;
        });
  }

  private synchronized List<T> kept(String name) {
    forget();
    View<T> view = views.get(name);
    if (view == null) {
      throw new StaleViewException("this list is not kept any more; begin again at its first page");
    }
    return view.items;
  }

  /**
   * Another page.
   *
   * @throws StaleViewException where the list is not kept any more
   * @throws InvalidGraphException where no page starts there
   */
  Page<T> next(Page.Wanted wanted) {
    List<T> all = kept(wanted.view());
    int from;
    try {
      from = Integer.parseInt(wanted.start());
    } catch (NumberFormatException _) {
      from = -1;
    }
    if (from < 0 || from > all.size()) {
      throw new InvalidGraphException("no page of this list starts at " + wanted.start());
    }
    return page(wanted.view(), all, from);
  }

  private static <T> Page<T> page(String name, List<T> all, int from) {
    int to = Math.min(all.size(), from + PAGE);
    return new Page<>(all.subList(from, to), name, to < all.size() ? Integer.toString(to) : null);
  }
}
