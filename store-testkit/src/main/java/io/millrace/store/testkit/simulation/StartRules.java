package io.millrace.store.testkit.simulation;

import io.millrace.store.Document;
import io.millrace.store.Task;
import io.millrace.store.Throttling;
import io.millrace.store.Throttling.Limit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The documented rules for limits, keys and priorities, applied to a model at a time by counting
 * its tasks. Tasks that the command has taken already count too.
 */
final class StartRules {
  private final Model model;
  private final long now;
  private final List<Task> taken = new ArrayList<>();

  StartRules(Model model, long nowMillis) {
    this.model = model;
    this.now = nowMillis;
  }

  /** The name of the limit of a document in {@link Model#fullAt}. */
  private static List<String> of(Document limits) {
    return List.of(limits.key().collection(), limits.key().key());
  }

  private static List<String> key(Document limits, String key) {
    return List.of(limits.key().collection(), limits.key().key(), "key", key);
  }

  private static List<String> shared(String name) {
    return List.of("shared", name);
  }

  void take(Task task) {
    taken.add(task);
  }

  /** How many more tasks of the group may start, whatever their keys. */
  int room(String group) {
    Document document = model.limitsDocument(group);
    if (document == null) {
      return Integer.MAX_VALUE;
    }
    Throttling limits = read(document);
    int room = room(limits.group(), of(document), task -> document.equals(limitsOf(task)));
    for (String name : limits.shared()) {
      Predicate<Task> sharing = task -> read(limitsOf(task)).shared().contains(name);
      room = Math.min(room, room(model.sharedLimit(name), shared(name), sharing));
    }
    return room;
  }

  /** How many more tasks of a key may start under the limit of keys. */
  int room(String group, String key) {
    Document document = model.limitsDocument(group);
    return document == null || key.isEmpty()
        ? Integer.MAX_VALUE
        : room(
            read(document).key(),
            key(document, key),
            task -> task.key().equals(key) && document.equals(limitsOf(task)));
  }

  private @Nullable Document limitsOf(Task task) {
    return model.limitsDocument(task.group());
  }

  private int room(Limit limit, List<String> name, Predicate<Task> counts) {
    long before = taken.stream().filter(counts).count();
    long running =
        model.tasks().stream().filter(task -> Model.liveClaim(task, now)).filter(counts).count();
    long free = limit.running() == 0 ? Integer.MAX_VALUE : limit.running() - running - before;
    long starts =
        limit.starts() == 0 ? Integer.MAX_VALUE : limit.possible(model.fullAt(name), now) - before;
    return (int) Math.max(0, Math.min(free, starts));
  }

  /** The new values of {@link Model#fullAt} after a start of this task. */
  Map<List<String>, Long> afterStart(Task task) {
    Map<List<String>, Long> after = new HashMap<>();
    Document document = limitsOf(task);
    if (document != null) {
      Throttling limits = read(document);
      start(after, limits.group(), of(document));
      if (!task.key().isEmpty()) {
        start(after, limits.key(), key(document, task.key()));
      }
      limits.shared().forEach(name -> start(after, model.sharedLimit(name), shared(name)));
    }
    return after;
  }

  private void start(Map<List<String>, Long> after, Limit limit, List<String> name) {
    if (limit.starts() > 0) {
      after.put(name, limit.afterStart(model.fullAt(name), now));
    }
  }

  /**
   * The waiting tasks by key, each in the order in which they are taken, as many as may start under
   * the limit of the key.
   */
  List<List<Task>> lanes(List<Task> waiting, String group, boolean newest) {
    Map<String, List<Task>> byKey = new TreeMap<>();
    waiting.forEach(task -> byKey.computeIfAbsent(task.key(), _ -> new ArrayList<>()).add(task));
    List<List<Task>> lanes = new ArrayList<>();
    byKey.forEach((key, tasks) -> {
      TreeSet<Task> sorted =
          new TreeSet<>((one, other) -> compare(one, other, model.limits(group), newest));
      sorted.addAll(tasks);
      lanes.add(sorted.stream().limit(room(group, key)).toList());
    });
    return lanes;
  }

  private static int compare(Task one, Task other, Throttling limits, boolean newest) {
    int sign = newest ? -1 : 1;
    int byRank =
        Long.compare(
            sign * one.availableAtMillis() - one.priority() * limits.ageingMillis(),
            sign * other.availableAtMillis() - other.priority() * limits.ageingMillis());
    int byPriority = byRank != 0 ? byRank : Integer.compare(other.priority(), one.priority());
    return byPriority != 0 ? byPriority : sign * Long.compare(one.origin(), other.origin());
  }

  /** The limits that a document sets; none if it does not exist. */
  static Throttling read(@Nullable Document document) {
    return document == null ? Throttling.NONE : Throttling.read(document.key(), document.body());
  }
}
