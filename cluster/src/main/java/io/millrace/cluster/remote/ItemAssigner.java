package io.millrace.cluster.remote;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.lock.Guard;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongPredicate;

/**
 * Gives out the items of a backlog for one leader. It remembers which items it gave out. If a
 * document says that this leader gave out an item that it does not remember, the answer to that
 * write was lost and the item still waits. Each method may be called again after an exception. Used
 * by one thread at a time.
 */
public final class ItemAssigner {
  private final BacklogItems items;
  private final Guard leader;
  private final LongPredicate isOver;
  private final Set<String> given = new HashSet<>();

  /**
   * Creates an assigner that has given out nothing.
   *
   * @param leader proof that the caller leads; items record its fence
   * @param isOver whether no lambda of the leader with an older fence is left
   */
  public ItemAssigner(BacklogItems items, Guard leader, LongPredicate isOver) {
    this.items = items;
    this.leader = leader;
    this.isOver = isOver;
  }

  /** Gives out up to {@code max} waiting items, those given out least often first. */
  public List<String> take(int max) {
    List<BacklogItems.Item> waiting =
        items.list().stream()
            .filter(this::waits)
            .sorted(
                Comparator.comparingInt(BacklogItems.Item::attempts)
                    .thenComparing(BacklogItems.Item::name))
            .toList();
    List<String> taken = new ArrayList<>();
    try {
      for (BacklogItems.Item item : waiting) {
        if (taken.size() >= max) {
          break;
        }
        leader.check();
        if (items.put(item.given(leader.fence()))) {
          given.add(item.name());
          taken.add(item.name());
        }
      }
    } catch (ClusterException e) {
      // An item whose write is unclear is not remembered, so it counts as waiting later.
      if (taken.isEmpty()) {
        throw e;
      }
    }
    return taken;
  }

  private boolean waits(BacklogItems.Item item) {
    return switch (item.state()) {
      case WAITING -> true;
      case GIVEN ->
          item.fence() == leader.fence()
              ? !given.contains(item.name())
              : item.fence() < leader.fence() && isOver.test(item.fence());
      case DONE -> false;
    };
  }

  /** Makes an item wait again, unless it is done or unknown. */
  public void reEnqueue(String name) {
    items.change(
        name,
        item -> {
          leader.check();
          return item.state() == BacklogItems.State.GIVEN
              ? item.with(BacklogItems.State.WAITING)
              : item;
        });
    given.remove(name);
  }
}
