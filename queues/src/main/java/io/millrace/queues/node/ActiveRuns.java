package io.millrace.queues.node;

import io.millrace.queues.ObjectId;
import io.millrace.queues.Run;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The runs of a node, each in one place. */
final class ActiveRuns {
  /** Where a run is. */
  enum Place {
    /** Claimed, and not yet handed to a runner. */
    READY,
    /** A runner has it. */
    WITH_RUNNER,
    /** Recorded as this node's, but carried out by a process that this node does not see. */
    ELSEWHERE,
    /** About to be given back or ended in the store. */
    LEAVING
  }

  private record Held(Run run, Place place) {}

  /** A run to hand over, and since when. */
  private record Ready(ObjectId task, long sinceNanos) {}

  private final Map<ObjectId, Held> held = new LinkedHashMap<>();
  private final Deque<Ready> ready = new ArrayDeque<>();

  /** Tasks whose runner was lost before it reported: its last message is not about a later run. */
  private final Set<ObjectId> unheard = new HashSet<>();

  /** Adds a run to hand over; they are handed over in this order. */
  void ready(Run run, long nowNanos) {
    put(run, Place.READY);
    ready.add(new Ready(run.task(), nowNanos));
  }

  /** Adds a run, or moves it; for {@link Place#READY} there is {@link #ready}. */
  void put(Run run, Place place) {
    Held before = held.put(run.task(), new Held(run, place));
    if (before != null && before.place() == Place.READY) {
      notReady(run.task());
    }
    if (before != null
        && before.place() == Place.WITH_RUNNER
        && !before.run().claim().equals(run.claim())) {
      unheard.add(run.task());
    }
  }

  private void notReady(ObjectId task) {
    ready.removeIf(each -> each.task().equals(task));
  }

  /** Removes a run. */
  void remove(ObjectId task) {
    Held before = held.remove(task);
    if (before != null && before.place() == Place.READY) {
      notReady(task);
    }
  }

  /** Removes a run that is over although its runner has not said so yet. */
  void removeUnheard(ObjectId task) {
    if (placeOf(task) == Place.WITH_RUNNER) {
      unheard.add(task);
    }
    remove(task);
  }

  /**
   * A runner has sent its last message about a task; returns whether it is about the current run.
   */
  boolean hearsLast(ObjectId task) {
    return !unheard.remove(task);
  }

  /** The place of the run of this task; null if there is none. */
  @Nullable Place placeOf(ObjectId task) {
    Held found = held.get(task);
    return found == null ? null : found.place();
  }

  Optional<Run> find(ObjectId task) {
    return Optional.ofNullable(held.get(task)).map(Held::run);
  }

  /** The next run to hand over; it stays until it is moved. */
  Optional<Run> nextReady() {
    Ready next = ready.peek();
    return next == null ? Optional.empty() : find(next.task());
  }

  /** How many runs wait to be handed over. */
  int readyCount() {
    return ready.size();
  }

  /** The time since which the next run has been waiting to be handed over; only if there is one. */
  long readySinceNanos() {
    return ready.element().sinceNanos();
  }

  /** All runs in a place. */
  List<Run> in(Place place) {
    List<Run> runs = new ArrayList<>();
    held.values().stream()
        .filter(each -> each.place() == place)
        .forEach(each -> runs.add(each.run()));
    return runs;
  }

  /** All runs. */
  List<Run> all() {
    List<Run> runs = new ArrayList<>(held.size());
    held.values().forEach(each -> runs.add(each.run()));
    return runs;
  }

  int size() {
    return held.size();
  }
}
