package io.millrace.cluster.remote.backlog;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.lock.Guard;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongPredicate;

/**
 * How one leader gives out the items of a backlog. It remembers which it gave; an item of which the
 * document says that it gave it, though it did not, was written by an attempt whose answer was
 * lost, and waits. Each method may be called again after it threw. Used by one thread at a time.
 */
public final class Handing {
  private static final int ATTEMPTS = 20;

  private final Items items;
  private final Guard leader;
  private final LongPredicate isOver;
  private final Set<String> given = new HashSet<>();

  /**
   * Has given out nothing yet.
   *
   * @param leader proof that the caller leads; its fence is written down
   * @param isOver whether nothing is run any more that a leader of an older fence has submitted
   */
  public Handing(Items items, Guard leader, LongPredicate isOver) {
    this.items = items;
    this.leader = leader;
    this.isOver = isOver;
  }

  /** Gives out items that wait, up to some number; those that were given out least first. */
  public List<String> take(int most) {
    List<Item> waiting =
        items.list().stream()
            .filter(this::waits)
            .sorted(Comparator.comparingInt(Item::attempts).thenComparing(Item::name))
            .toList();
    List<String> taken = new ArrayList<>();
    try {
      for (Item item : waiting) {
        if (taken.size() >= most) {
          break;
        }
        leader.check();
        if (items.put(item.given(leader.fence()))) {
          given.add(item.name());
          taken.add(item.name());
        }
      }
    } catch (ClusterException e) {
      // What is unclear is found waiting later, by what is remembered; what is ours, is ours.
      if (taken.isEmpty()) {
        throw e;
      }
    }
    return taken;
  }

  private boolean waits(Item item) {
    return switch (item.state()) {
      case WAITING -> true;
      case GIVEN ->
          item.fence() == leader.fence()
              ? !given.contains(item.name())
              : item.fence() < leader.fence() && isOver.test(item.fence());
      case DONE -> false;
    };
  }

  /** Has an item wait again, unless it is done or not known. */
  public void reEnqueue(String name) {
    for (int i = 0; i < ATTEMPTS; i++) {
      leader.check();
      Item item = items.find(name).orElse(null);
      if (item == null || item.state() != Item.State.GIVEN) {
        given.remove(name);
        return;
      }
      if (items.put(item.with(Item.State.WAITING))) {
        given.remove(name);
        return;
      }
    }
    throw new UnclearOutcomeException("item " + name + " changed under every attempt");
  }
}
