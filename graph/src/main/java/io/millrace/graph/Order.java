package io.millrace.graph;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** What comes first of things that stand above each other. */
final class Order {
  private Order() {}

  /**
   * These, each after those above it, and otherwise as they come. Those on a circle or below one
   * are left out.
   *
   * @param above what stands above one; those that are not among {@code all} count as past
   */
  static <T> List<T> of(Collection<T> all, Function<T, Collection<T>> above) {
    Set<T> known = new HashSet<>(all);
    Map<T, Integer> waitingFor = new HashMap<>();
    Map<T, List<T>> below = new HashMap<>();
    List<T> order = new ArrayList<>(all.size());
    for (T each : all) {
      Set<T> needed = new HashSet<>(above.apply(each));
      needed.retainAll(known);
      needed.forEach(it -> below.computeIfAbsent(it, _ -> new ArrayList<>()).add(each));
      waitingFor.put(each, needed.size());
      if (needed.isEmpty()) {
        order.add(each);
      }
    }
    for (int i = 0; i < order.size(); i++) {
      for (T next : below.getOrDefault(order.get(i), List.of())) {
        if (waitingFor.merge(next, -1, Integer::sum) == 0) {
          order.add(next);
        }
      }
    }
    return order;
  }
}
