package io.millrace.queues.simulation;

import static org.assertj.core.api.Assertions.fail;

import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.Task;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Follows every commit and holds it against what queues promise about limits, unique keys and
 * retries. It reads what is stored by itself, and knows what was submitted and reported.
 */
final class QueueReferee {
  private static final JsonMapper JSON = new JsonMapper();
  private static final Set<Integer> ENDED = Set.of(1, 2, -3, -5, -6);

  /**
   * A task as it was submitted.
   *
   * @param key for whom it is, for limits; empty for nobody
   * @param unique its unique key; empty if it has none
   * @param untilStart whether it holds that key until it starts, rather than until it has ended
   * @param delayMillis for how long it cannot be claimed
   */
  record Order(
      int number, String queue, String key, String unique, boolean untilStart, long delayMillis) {}

  /**
   * The settings of a queue.
   *
   * @param starts how many may start in the period; 0 for any number
   * @param keyRunning how many of a key may run at a time; 0 for any number
   */
  record Limits(int threads, int starts, long periodMillis, int keyRunning) {}

  /** A task as the referee knows it. */
  private static final class Known {
    final Order order;
    int status = -2;
    int failed;
    int orphaned;
    long notBefore;
    long token;
    boolean holds;

    Known(Order order) {
      this.order = order;
      this.holds = !order.unique.isEmpty();
    }

    @Override
    public String toString() {
      return "%d, %d failed, from %d: %s".formatted(status, failed, notBefore, order);
    }
  }

  private final Map<String, Limits> limits;
  private final int attempts;
  private final long retryMillis;
  private final Map<Integer, Order> orders = new HashMap<>();
  private final Map<String, Known> known = new LinkedHashMap<>();
  private final Set<Integer> created = new HashSet<>();
  private final Map<Long, String> reports = new HashMap<>();
  private final Set<String> disturbed = new HashSet<>();

  /** Who has held a key since each of the submissions that are under way began. */
  private final Set<Set<String>> underWay = Collections.newSetFromMap(new IdentityHashMap<>());

  private final Set<Long> lost = new HashSet<>();
  private final Map<Long, Task> tasks = new HashMap<>();
  private final Map<Long, String> ids = new HashMap<>();
  private final Map<String, Double> buckets = new HashMap<>();
  private final Map<String, Long> bucketTimes = new HashMap<>();
  private int shared = Integer.MAX_VALUE;
  private int starts;
  private boolean calm;
  private long now;

  /**
   * Has seen nothing.
   *
   * @param attempts how many each task has
   * @param retryMillis the pause before each but the first
   */
  QueueReferee(Map<String, Limits> limits, int attempts, long retryMillis) {
    this.limits = limits;
    this.attempts = attempts;
    this.retryMillis = retryMillis;
  }

  static void require(boolean holds, String what, Object... arguments) {
    if (!holds) {
      fail(what, arguments);
    }
  }

  /** This may be submitted from now on; its params have the number. */
  void orders(int number, Order order) {
    orders.put(number, order);
  }

  /** A node reports on the claim with this token. */
  void reports(long token, String kind) {
    reports.put(token, kind);
  }

  /** A node has forgotten the claim with this token. */
  void loses(long token) {
    lost.add(token);
  }

  /** A user does something to a task. */
  void disturbs(String id) {
    disturbed.add(id);
  }

  /** From now on no answer is lost, and none was for longer than a lease. */
  void calms() {
    calm = true;
  }

  /** A submission begins: who holds a key from now on may be its answer. */
  Set<String> submits() {
    Set<String> holders = held().collect(Collectors.toCollection(HashSet::new));
    underWay.add(holders);
    return holders;
  }

  private Stream<String> held() {
    return known.entrySet().stream().filter(each -> each.getValue().holds).map(Map.Entry::getKey);
  }

  /** A submission is over, answered or not. */
  void ends(Set<String> holders) {
    underWay.remove(holders);
  }

  /** A submission was answered. */
  void answered(int number, String id, boolean duplicate, Set<String> holders) {
    Order order = Objects.requireNonNull(orders.get(number));
    Known task = known.get(id);
    if (!duplicate) {
      require(task != null && task.order.equals(order), "%d is not %s", number, id);
      return;
    }
    require(
        holders.contains(id) && task != null && sameKey(task.order, order),
        "%d is called a duplicate of %s, which does not hold the key %s",
        number,
        id,
        order.unique);
  }

  private static boolean sameKey(Order one, Order other) {
    return one.queue.equals(other.queue) && one.unique.equals(other.unique);
  }

  void see(Commit commit) {
    now = commit.timeMillis();
    Map<String, Long> tokens = new HashMap<>();
    for (Change change : commit.changes()) {
      if (change instanceof Change.DocumentPut(long _, Document run)
          && run.key().collection().equals("queues.runs")) {
        tokens.put(run.key().key(), JSON.readTree(run.body().utf8()).required("token").asLong());
      }
    }
    for (Change change : commit.changes()) {
      switch (change) {
        case Change.Added(Task task) -> {
          tasks.put(task.origin(), task);
          ids.put(task.origin(), task.data().utf8());
        }
        case Change.Changed(long _, Task task, boolean _) -> {
          tasks.put(task.origin(), task);
          if (task.heldByClaim() && task.token() == task.id()) {
            start(task);
          }
        }
        case Change.Deleted(long _, long origin, String _) -> tasks.remove(origin);
        case Change.DocumentPut(long _, Document document) -> {
          if (document.key().collection().equals("queues.tasks")) {
            String id = document.key().key();
            write(id, JSON.readTree(document.body().utf8()), tokens.get(id));
          } else if (document.key().collection().equals("throttling/shared")) {
            shared = Integer.parseInt(document.body().utf8().strip().split(" ", -1)[1]);
          }
        }
        case Change.DocumentDeleted _ -> {}
      }
    }
    held().forEach(id -> underWay.forEach(holders -> holders.add(id)));
    Set<String> keys = new HashSet<>();
    known.forEach((_, task) ->
        require(
            !task.holds || keys.add(task.order.queue + "/" + task.order.unique),
            "two hold the key %s",
            task.order.unique));
  }

  /** The orders of the tasks that are claimed now, in the kernel. */
  private long running(Predicate<Order> which) {
    return tasks.values().stream()
        .filter(task -> task.heldByClaim() && task.availableAtMillis() > now)
        .map(this::order)
        .filter(order -> order != null && which.test(order))
        .count();
  }

  private @Nullable Order order(Task task) {
    Known of = known.get(ids.get(task.origin()));
    return of == null ? null : of.order;
  }

  /** A claim is a start, also if it never comes on record. */
  private void start(Task task) {
    Order order = order(task);
    if (order == null) {
      return;
    }
    starts++;
    Limits of = limits(order);
    long all = running(each -> each.queue.equals(order.queue));
    require(all <= of.threads, "%d of %s are running", all, order.queue);
    long same = running(each -> each.queue.equals(order.queue) && each.key.equals(order.key));
    require(
        of.keyRunning == 0 || order.key.isEmpty() || same <= of.keyRunning,
        "%d of the key %s are running",
        same,
        order.key);
    long together = running(_ -> true);
    require(together <= shared, "%d of the tasks under the shared limit are running", together);
    if (of.starts > 0) {
      double left = bucket(order.queue) - 1;
      buckets.put(order.queue, left);
      require(left > -0.01, "too many of %s have started", order.queue);
    }
  }

  private Limits limits(Order order) {
    return Objects.requireNonNull(limits.get(order.queue));
  }

  private double bucket(String queue) {
    Limits of = Objects.requireNonNull(limits.get(queue));
    double more =
        (now - bucketTimes.getOrDefault(queue, now)) * (double) of.starts / of.periodMillis;
    double left = Math.min(of.starts, buckets.getOrDefault(queue, (double) of.starts) + more);
    bucketTimes.put(queue, now);
    buckets.put(queue, left);
    return left;
  }

  private void write(String id, JsonNode json, @Nullable Long token) {
    int status = json.required("status").asInt();
    Known task = known.get(id);
    if (task == null) {
      int number = Integer.parseInt(json.required("params").required("command").asString());
      Order order = orders.get(number);
      require(order != null && status == -2, "%s comes from nowhere", id);
      require(created.add(number), "%d was created twice", number);
      task = new Known(Objects.requireNonNull(order));
      task.notBefore = json.path("not_before").asLong(0);
      known.put(id, task);
      require(
          task.notBefore == 0 ? task.order.delayMillis == 0 : task.order.delayMillis > 0,
          "%s may begin at %d: %s",
          id,
          task.notBefore,
          task.order);
      return;
    }
    String step = task.status + " to " + status;
    switch (step) {
      case "-2 to -1" -> {
        require(task.notBefore <= now + 1, "%s began %d ms early", id, task.notBefore - now);
        task.token = Objects.requireNonNull(token);
      }
      case "-1 to 0" -> task.holds &= !task.order.untilStart;
      case "0 to 1", "0 to 2", "0 to -2", "-1 to -2" -> end(id, task, json, status);
      case "-2 to -4",
          "-2 to -5",
          "-2 to -3",
          "-4 to -3",
          "-4 to -5",
          "-1 to -3",
          "0 to -3",
          "-4 to -2",
          "-3 to -2",
          "-5 to -2",
          "1 to -2",
          "2 to -2",
          "-5 to -4",
          "-3 to -4",
          "-3 to -5",
          "-5 to -3",
          "-3 to -3",
          "-4 to -4",
          "-5 to -5",
          "1 to 1" -> {
        require(disturbed.contains(id), "%s went from %s by nobody's wish", id, step);
        if (status == -2) {
          task.failed = 0;
          task.orphaned = 0;
          task.notBefore = 0;
        }
      }
      default -> throw new AssertionError(id + " went from " + step);
    }
    task.status = status;
    require(
        task.failed == json.path("failed").asInt(0)
            && task.orphaned == json.path("orphaned").asInt(0),
        "%s counts wrongly after %s: %s",
        id,
        step,
        json);
    task.holds &= !ENDED.contains(status);
  }

  /** An attempt has ended, by its report or because its claim has. */
  private void end(String id, Known task, JsonNode json, int status) {
    String report = reports.getOrDefault(task.token, "");
    long next = json.path("not_before").asLong(0);
    if (json.path("orphaned").asInt(0) > task.orphaned) {
      require(!calm || lost.contains(task.token), "%s was taken from its node", id);
      task.orphaned++;
      task.notBefore = 0;
      return;
    }
    if (status == 1) {
      require(report.equals("done"), "%s is done, but was reported %s", id, report);
      return;
    }
    require(report.equals("failed"), "%s has failed, but was reported %s", id, report);
    task.failed++;
    if (status == 2) {
      require(
          task.failed >= attempts || disturbed.contains(id), "%s has attempts left: %s", id, task);
      return;
    }
    require(task.failed < attempts, "%s is tried again and again", id);
    require(
        Math.abs(next - now - retryMillis) <= 1, "%s is tried again after %d ms", id, next - now);
    task.notBefore = next;
  }

  /** The tasks that wait although they could start. */
  List<String> startable(long millis) {
    now = Math.max(now, millis);
    if (running(_ -> true) >= shared) {
      return List.of();
    }
    Map<String, Boolean> room = new HashMap<>();
    limits.forEach((queue, of) ->
        room.put(
            queue,
            running(each -> each.queue.equals(queue)) < of.threads
                && (of.starts == 0 || bucket(queue) >= 1)));
    return known.entrySet().stream()
        .filter(each -> {
          Known task = each.getValue();
          Order order = task.order;
          return task.status == -2
              && task.notBefore <= now
              && Boolean.TRUE.equals(room.get(order.queue))
              && (limits(order).keyRunning == 0
                  || order.key.isEmpty()
                  || running(
                          other -> other.queue.equals(order.queue) && other.key.equals(order.key))
                      < limits(order).keyRunning);
        })
        .map(Map.Entry::getKey)
        .toList();
  }

  boolean allHaveEnded() {
    return known.values().stream()
        .allMatch(task -> ENDED.contains(task.status) || task.status == -4);
  }

  List<String> ids() {
    return List.copyOf(known.keySet());
  }

  long holding() {
    return held().count();
  }

  String show(String id) {
    return String.valueOf(known.get(id));
  }

  String summary() {
    Map<Integer, Long> states =
        known.values().stream()
            .collect(Collectors.groupingBy(task -> task.status, Collectors.counting()));
    return known.size() + " tasks, " + starts + " starts, states " + states;
  }
}
