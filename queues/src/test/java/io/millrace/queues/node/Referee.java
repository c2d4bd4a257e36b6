package io.millrace.queues.node;

import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Task;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Follows every commit and holds what nodes did against what queues promise. */
final class Referee {
  private static final JsonMapper JSON = new JsonMapper();

  private record Active(String queue, String node) {}

  private final Map<String, JsonNode> queues = new HashMap<>();
  private final LimitHistory limits = new LimitHistory();
  private final Map<String, Active> runs = new HashMap<>();
  private final Map<String, Integer> statuses = new HashMap<>();
  private final Map<String, Integer> starts = new HashMap<>();
  private final Map<String, Integer> allowed = new HashMap<>();
  private final Map<String, Map<Long, Task>> waiting = new HashMap<>();
  private int claims;
  private long nowMillis;

  /** The status of every task, by id. */
  Map<String, Integer> statuses() {
    return statuses;
  }

  int runsUnderWay() {
    return runs.size();
  }

  int claims() {
    return claims;
  }

  void see(Commit commit) {
    nowMillis = commit.timeMillis();
    for (Change change : commit.changes()) {
      switch (change) {
        case Change.Added(Task task) -> group(task.group()).put(task.origin(), task);
        case Change.Changed(long _, Task task, boolean _) -> {
          if (task.heldByClaim() && task.token() == task.id()) {
            checkOrder(task);
          }
          group(task.group()).put(task.origin(), task);
        }
        case Change.Deleted(long _, long origin, String group) -> group(group).remove(origin);
        case Change.DocumentPut(long _, Document document) -> put(document);
        case Change.DocumentDeleted(DocumentKey key, long _) -> {
          if (key.collection().equals("queues.runs")) {
            runs.remove(key.key());
          }
        }
      }
    }
  }

  private Map<Long, Task> group(String name) {
    return waiting.computeIfAbsent(name, _ -> new TreeMap<>());
  }

  private void put(Document document) {
    String key = document.key().key();
    switch (document.key().collection()) {
      case "queues.queues" -> {
        JsonNode queue = JSON.readTree(document.body().utf8());
        queues.put(key, queue);
        limits.set("queue " + key, limit(queue.get("threads"), 0), nowMillis);
      }
      case "queues.nodes" -> {
        JsonNode node = JSON.readTree(document.body().utf8());
        limits.set("node " + key, limit(node.get("maxthreads"), Integer.MAX_VALUE), nowMillis);
      }
      case "queues.runs" -> run(key, JSON.readTree(document.body().utf8()));
      case "queues.tasks" -> task(key, JSON.readTree(document.body().utf8()));
      default -> {}
    }
  }

  private static int limit(@Nullable JsonNode value, int none) {
    return value == null || value.isNull() ? none : value.asInt();
  }

  private void run(String task, JsonNode run) {
    Active active = new Active(run.get("queue").asString(), run.get("node").asString());
    boolean fresh = runs.put(task, active) == null;
    if (run.get("status").asInt() == 0) {
      int times = starts.merge(task, 1, Integer::sum);
      require(times <= allowed.getOrDefault(task, 1), "task " + task + " ran " + times + " times");
    } else if (fresh) {
      claims++;
      long ofQueue = runs.values().stream().filter(r -> r.queue().equals(active.queue())).count();
      require(
          ofQueue <= limits.highestLately("queue " + active.queue(), nowMillis),
          "queue " + active.queue() + " runs " + ofQueue);
      long ofNode = runs.values().stream().filter(r -> r.node().equals(active.node())).count();
      require(
          ofNode <= limits.highestLately("node " + active.node(), nowMillis),
          "node " + active.node() + " runs " + ofNode);
    }
  }

  private void task(String id, JsonNode task) {
    int status = task.get("status").asInt();
    Integer before = statuses.put(id, status);
    if (before != null && status == -2 && before != -1) {
      // Queued again after it ran, or was held: it may run once more.
      allowed.merge(id, 2, (old, _) -> old + 1);
    }
  }

  /** A claim of a queue takes the task that is first in its order. */
  private void checkOrder(Task claimed) {
    Task before = group(claimed.group()).get(claimed.origin());
    if (before == null || !claimed.group().startsWith("queues/")) {
      return;
    }
    JsonNode queue = queues.get(claimed.group().substring("queues/".length()));
    if (queue == null) {
      return;
    }
    boolean newest = queue.path("sort").asString("default").equals("lifo");
    for (Task other : group(claimed.group()).values()) {
      boolean waits =
          other.origin() != claimed.origin() && other.availableAtMillis() < nowMillis - 1;
      int order = compare(other, before);
      require(
          !waits || (newest ? order < 0 : order > 0) || before.availableAtMillis() >= nowMillis - 1,
          "task " + claimed.origin() + " was claimed before " + other.origin());
    }
  }

  private static int compare(Task left, Task right) {
    int byTime = Long.compare(left.availableAtMillis(), right.availableAtMillis());
    return byTime != 0 ? byTime : Long.compare(left.origin(), right.origin());
  }

  static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }
}
