package io.millrace.queues.runner;

import io.millrace.queues.ObjectId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The runners of a node, and which of them are kept. Guarded by the lock of {@link Crew}. */
final class Pool {
  private final Map<String, Slot> slots = new LinkedHashMap<>();
  private final int warm;

  /**
   * A pool without runners.
   *
   * @param warm how many idle ones are kept
   */
  Pool(int warm) {
    this.warm = warm;
  }

  void add(Slot slot) {
    slots.put(slot.name(), slot);
  }

  /** Forgets a runner; gives whether it was here. */
  boolean remove(Slot slot) {
    return slots.remove(slot.name(), slot);
  }

  @Nullable Slot find(String name) {
    return slots.get(name);
  }

  /** The runner that has this task. */
  Optional<Slot> with(ObjectId task) {
    return slots.values().stream().filter(slot -> slot.has(task)).findFirst();
  }

  /** The idle runners that were started so, the youngest first. */
  List<Slot> idle(List<String> command) {
    return slots.values().stream()
        .filter(slot -> slot.isIdle() && slot.isStartedWith(command))
        .toList()
        .reversed();
  }

  /** How many runners have not connected yet. */
  int starting() {
    return (int) slots.values().stream().filter(slot -> !slot.met()).count();
  }

  /** Whether as many runners that were started so will be free some time as are kept warm. */
  boolean hasAsManyAsKept(List<String> command) {
    return warm > 0
        && slots.values().stream()
                .filter(slot -> !slot.isLeaving() && slot.isStartedWith(command))
                .count()
            >= warm;
  }

  /** Whether there are more idle runners than are kept. */
  boolean hasTooManyIdle() {
    return slots.values().stream().filter(Slot::isIdle).count() > warm;
  }

  /** Whether this runner is of no use once it is idle. */
  boolean isUseless(Slot slot) {
    // Of one that an earlier node started nobody knows how.
    return warm == 0 || slot.isSurvivor();
  }

  /** The runners whose claims are about to end under their work. */
  List<Slot> frozen() {
    return slots.values().stream().filter(Slot::isFrozen).toList();
  }

  void dismissIdle() {
    slots.values().stream().filter(Slot::isIdle).forEach(Slot::dismiss);
  }
}
