package io.millrace.jobs.simulation;

import io.millrace.jobs.Failure;
import io.millrace.jobs.Report;
import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.Document;
import io.millrace.store.Task;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.assertj.core.api.Assertions;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Follows every commit and holds it against what jobs promise. It reads what is stored by itself,
 * and knows what was submitted, what workers reported and what users asked for.
 */
final class JobReferee {
  static final int MAX_RETURNS = 5;
  private static final JsonMapper JSON = new JsonMapper();

  /** How long a time-out may be late: it is looked for once a second, by a server that may die. */
  private static final long LATE_MILLIS = 3_000;

  /**
   * A job as it was submitted.
   *
   * @param key for whom it is, for limits; empty for nobody
   * @param unique its unique key; empty if it has none
   * @param scope in which states it holds that key
   * @param period for how long it holds that key instead, in milliseconds; 0 for none
   * @param notBefore when it may begin; 0 for at once
   */
  record Order(
      String type,
      Rules rules,
      String key,
      String unique,
      String scope,
      long period,
      long notBefore) {}

  /** The limits of a type, by number. */
  record Limits(int running, int starts, long period, int keyRunning, boolean isShared) {}

  /** A job as the model knows it. */
  static final class Known {
    final Order order;
    final long submitted;
    String status = "pending";
    int failures;
    int snoozes;
    int returns;
    long notBefore;
    long since;
    long started;
    long token;
    String worker = "";
    String forbidden = "";
    boolean holds;

    Known(Order order, long submitted) {
      this.order = order;
      this.submitted = submitted;
      this.holds = !order.unique.isEmpty();
    }

    @Override
    public String toString() {
      return status
          + (failures + "/" + snoozes + "/" + returns)
          + " from "
          + notBefore
          + " not with "
          + forbidden
          + " "
          + order;
    }

    boolean isEnd() {
      return status.equals("done") || status.equals("failed");
    }

    boolean holdsAt(long now) {
      return holds && (order.period == 0 || now < submitted + order.period);
    }

    /** From when on it may be over time while it waits, or as a whole. */
    boolean isOver(long now) {
      Rules.Timeouts limits = order.rules.timeouts();
      boolean waits = status.equals("pending");
      return (limits.waiting() > 0 && waits && now >= runnable() + limits.waiting())
          || (limits.whole() > 0 && now >= since + limits.whole());
    }

    long runnable() {
      return notBefore;
    }
  }

  private static final class Bucket {
    double left;
    long atMillis;

    Bucket(int starts) {
      left = starts;
    }
  }

  private final Map<String, Limits> limits;
  private final Map<String, Order> orders = new HashMap<>();
  private final Map<String, Known> jobs = new LinkedHashMap<>();
  private final Map<Long, String> reports = new HashMap<>();
  private final Set<String> cancelled = new HashSet<>();
  private final Set<String> retried = new HashSet<>();
  private final Map<Long, Task> tasks = new HashMap<>();
  private final Map<Long, String> jobsOfTasks = new HashMap<>();
  private final Map<String, Bucket> buckets = new HashMap<>();
  private final Map<String, Long> passedBy = new HashMap<>();
  private Set<String> holdersSince = new HashSet<>();
  private int shared = Integer.MAX_VALUE;
  private int starts;
  private boolean mayReturnAll;
  private boolean calm;
  private long now;

  JobReferee(Map<String, Limits> limits) {
    this.limits = limits;
  }

  // What the model is told.

  /** This may be submitted from now on. */
  void orders(String id, Order order) {
    orders.put(id, order);
  }

  void reports(Report report) {
    String kind =
        switch (report) {
          case Report.Completed _ -> "done";
          case Report.Returned(var _, String reason) -> reason == null ? "interrupted" : "returned";
          case Report.Failed(var _, Failure failure) ->
              (failure.wish().snooze() ? "snoozed " : "failed ")
                  + failure.wish().code()
                  + " "
                  + (failure.wish().delay() == null ? "-" : failure.wish().delay().toMillis());
        };
    reports.put(report.assignment().claim().token(), kind);
  }

  void cancels(String id) {
    cancelled.add(id);
  }

  void retries(String id) {
    retried.add(id);
  }

  /** A server has started and offers running jobs again. */
  void returnsAll(boolean on) {
    mayReturnAll = on;
  }

  /** From now on no answer is lost, and none was for longer than a lease. */
  void calms() {
    calm = true;
  }

  /** A submission begins: who holds keys from now on may be its answer. */
  void submits() {
    holdersSince = new HashSet<>();
    jobs.forEach((id, job) -> {
      if (job.holdsAt(now)) {
        holdersSince.add(id);
      }
    });
  }

  /** A submission was answered. */
  void answered(String id, String answer) {
    if (!answer.equals(id)) {
      Known holder = jobs.get(answer);
      Order order = Objects.requireNonNull(orders.get(id));
      // A holder that was deleted since is fine, too.
      require(
          holdersSince.contains(answer),
          "%s is called a duplicate of %s, which does not hold the key %s",
          id,
          answer,
          order.unique);
      require(
          holder == null || holder.order.unique.equals(order.unique),
          "%s is called a duplicate of %s",
          id,
          answer);
    } else {
      require(orders.containsKey(id), "%s was never submitted", id);
    }
  }

  // What it sees.

  void see(Commit commit) {
    now = commit.timeMillis();
    for (Change change : commit.changes()) {
      switch (change) {
        case Change.Added(Task task) -> {
          tasks.put(task.origin(), task);
          jobsOfTasks.put(task.origin(), task.data().utf8());
        }
        case Change.Changed(long _, Task task, boolean _) -> {
          tasks.put(task.origin(), task);
          if (task.heldByClaim() && task.token() == task.id()) {
            start(task);
          }
        }
        case Change.Deleted(long _, long origin, String _) -> tasks.remove(origin);
        case Change.DocumentPut(long _, Document document) -> {
          String id = document.key().key();
          switch (document.key().collection()) {
            case "jobs.jobs" -> write(id, JSON.readTree(document.body().utf8()));
            case "throttling/shared" ->
                shared = Integer.parseInt(document.body().utf8().strip().split(" ", -1)[1]);
            default -> {}
          }
        }
        case Change.DocumentDeleted(var key, long _) -> {
          if (key.collection().equals("jobs.jobs")) {
            jobs.remove(key.key());
          }
        }
      }
    }
    checkKeys();
  }

  /** A claim is a start, also if it never comes on record. */
  private void start(Task task) {
    Order order = orders.get(jobsOfTasks.get(task.origin()));
    if (order == null) {
      return;
    }
    starts++;
    Limits of = Objects.requireNonNull(limits.get(order.type));
    long running = running(each -> each.type.equals(order.type));
    require(of.running == 0 || running <= of.running, "%d of %s are running", running, order.type);
    long ofKey = running(each -> each.type.equals(order.type) && each.key.equals(order.key));
    require(
        of.keyRunning == 0 || order.key.isEmpty() || ofKey <= of.keyRunning,
        "%d of the key %s are running",
        ofKey,
        order.key);
    long together = running(each -> limits(each.type).isShared);
    require(!of.isShared || together <= shared, "%d under the shared limit are running", together);
    if (of.starts > 0) {
      Bucket bucket = bucket(order.type, of);
      bucket.left--;
      require(bucket.left > -0.01, "too many of %s have started", order.type);
    }
    passBy(Objects.requireNonNull(jobsOfTasks.get(task.origin())), order);
  }

  private Stream<Task> held() {
    return tasks.values().stream()
        .filter(task -> task.heldByClaim() && task.availableAtMillis() > now);
  }

  private interface Which {
    boolean is(Order order);
  }

  private long running(Which which) {
    return held()
        .map(task -> orders.get(jobsOfTasks.get(task.origin())))
        .filter(order -> order != null && which.is(order))
        .count();
  }

  private Bucket bucket(String type, Limits of) {
    Bucket bucket = buckets.computeIfAbsent(type, _ -> new Bucket(of.starts));
    double more = (now - bucket.atMillis) * (double) of.starts / of.period;
    bucket.left = bucket.atMillis == 0 ? of.starts : Math.min(of.starts, bucket.left + more);
    bucket.atMillis = now;
    return bucket;
  }

  /**
   * Keys of a type and priority take turns: while one waits and has room, others start only so
   * often.
   */
  private void passBy(String id, Order started) {
    Known first = jobs.get(id);
    if (first == null || first.failures > 0 || first.returns > 0) {
      return;
    }
    Set<String> claimed = new HashSet<>();
    held().forEach(task -> claimed.add(jobsOfTasks.get(task.origin())));
    Set<String> waiting = new HashSet<>();
    jobs.forEach((other, job) -> {
      if (job.order.type.equals(started.type)
          && JobSimulation.priority(job.order) == JobSimulation.priority(started)
          && !claimed.contains(other)
          && job.status.equals("pending")
          && job.failures == 0
          && job.returns == 0
          && job.snoozes == 0
          && job.notBefore <= now
          && isRoomFor(job.order.type, job.order.key)) {
        waiting.add(started.type + "/" + job.order.key);
      }
    });
    passedBy.keySet().removeIf(key -> key.startsWith(started.type + "/") && !waiting.contains(key));
    passedBy.remove(started.type + "/" + started.key);
    waiting.remove(started.type + "/" + started.key);
    for (String key : waiting) {
      long times = passedBy.merge(key, 1L, Long::sum);
      require(times <= JobSimulation.MAX_TURNS, "%d others were started before %s", times, key);
    }
  }

  private Limits limits(String type) {
    return Objects.requireNonNull(limits.get(type));
  }

  private boolean isRoomFor(String type, String key) {
    Limits of = limits(type);
    return of.keyRunning == 0
        || key.isEmpty()
        || running(each -> each.type.equals(type) && each.key.equals(key)) < of.keyRunning;
  }

  /** A job was written. */
  private void write(String id, JsonNode json) {
    Known job = jobs.get(id);
    String status = json.path("status").asString();
    if (job == null) {
      Order order = orders.get(id);
      require(order != null && status.equals("pending"), "%s comes from nowhere", id);
      job = new Known(Objects.requireNonNull(order), json.path("submitted").asLong());
      job.notBefore = Math.max(job.submitted, order.notBefore);
      job.since = job.notBefore;
      jobs.put(id, job);
      return;
    }
    String step = job.status + " to " + status;
    switch (step) {
      case "pending to running" -> begin(id, job, json);
      case "running to running" -> {
        // The claim of an attempt of which no worker has heard has ended.
        require(!calm, "%s is given out again while it runs", id);
        begin(id, job, json);
      }
      case "running to done" -> {
        end(id, job, "done");
        job.status = "done";
      }
      case "running to pending" -> offer(id, job, json);
      case "running to failed", "pending to failed" -> fail(id, job, json);
      case "failed to pending" -> {
        require(retried.remove(id), "%s goes on after it has failed", id);
        job.failures = 0;
        job.snoozes = 0;
        job.returns = 0;
        job.forbidden = "";
        job.notBefore = now;
        job.since = now;
      }
      default -> throw new AssertionError(id + " went from " + step);
    }
    job.status = status;
    require(
        job.failures == json.path("failures").asInt()
            && job.snoozes == json.path("snoozes").asInt(0)
            && job.returns == json.path("returns").asInt(0),
        "%s counts wrongly after %s: %s",
        id,
        step,
        json);
    if (job.order.period == 0) {
      job.holds &= !job.isEnd() && (job.order.scope.equals("unfinished") || job.started == 0);
    }
  }

  private void begin(String id, Known job, JsonNode json) {
    require(job.token != json.path("token").asLong(), "%s is given out twice with one claim", id);
    require(job.notBefore <= now + 1, "%s began %d ms too early", id, job.notBefore - now);
    job.worker = json.path("worker").asString();
    require(!job.worker.equals(job.forbidden), "%s is with %s again", id, job.worker);
    job.started = now;
    job.token = json.path("token").asLong();
  }

  /** How the present attempt was reported; empty if it was not. */
  private String reported(Known job) {
    return reports.getOrDefault(job.token, "");
  }

  private void end(String id, Known job, String kind) {
    require(reported(job).equals(kind), "%s is %s, but was reported %s", id, kind, reported(job));
  }

  /** An attempt has ended, and another one is to follow. */
  private void offer(String id, Known job, JsonNode json) {
    long next = json.path("notBefore").asLong(0);
    String[] report = reported(job).split(" ", -1);
    Rules rules = job.order.rules;
    if (json.path("snoozes").asInt(0) > job.snoozes) {
      require(report[0].equals("snoozed"), "%s was put off without a wish", id);
      job.snoozes++;
      require(job.snoozes <= rules.snoozes(), "%s was put off %d times", id, job.snoozes);
      long pause = next == 0 ? 0 : next - now;
      require(Math.abs(pause - Long.parseLong(report[2])) <= 1, "%s was put off %d ms", id, pause);
      job.forbidden = job.failures > 0 ? job.worker : "";
    } else if (json.path("failures").asInt() > job.failures) {
      job.failures++;
      Set<String> codes = codes(id, job, report);
      require(job.failures < rules.attempts(), "%s is tried again and again", id);
      require(!rules.fatal().containsAll(codes), "%s is tried again after %s", id, codes);
      long pause = next == 0 ? 0 : next - now;
      boolean asked = report.length > 2 && !report[2].equals("-");
      require(
          (asked && Math.abs(pause - Long.parseLong(report[2])) <= 1)
              || ((!asked || isOver(job)) && rules.allows(pause, job.failures)),
          "%s waits %d ms after %d failures",
          id,
          pause,
          job.failures);
      job.forbidden = job.worker;
    } else if (json.path("returns").asInt(0) > job.returns) {
      require(report[0].equals("returned"), "%s was returned by nobody", id);
      job.returns++;
      require(job.returns < MAX_RETURNS, "%s is returned again and again", id);
    } else {
      require(mayReturnAll || report[0].equals("interrupted"), "%s was interrupted by nobody", id);
    }
    job.notBefore = next == 0 ? now : next;
  }

  /** What the code of a failure can be: that of a time-out or the one that was reported. */
  private Set<String> codes(String id, Known job, String[] report) {
    Set<String> codes = new HashSet<>();
    boolean snoozesNoMore = report[0].equals("snoozed") && job.snoozes >= job.order.rules.snoozes();
    if (report[0].equals("failed") || snoozesNoMore) {
      codes.add(report[1]);
    }
    if (isOver(job)) {
      codes.add("timeout");
    }
    require(!codes.isEmpty(), "%s failed by nobody's report", id);
    return codes;
  }

  /**
   * Whether its attempt, or all of it, is over time. The time of a commit is that of the store,
   * which may be a millisecond behind the clock of the registry.
   */
  private boolean isOver(Known job) {
    long attempt = job.order.rules.timeouts().attempt();
    return (attempt > 0 && now + 1 >= job.started + attempt) || job.isOver(now + 1);
  }

  private void fail(String id, Known job, JsonNode json) {
    Rules rules = job.order.rules;
    if (json.path("returns").asInt(0) > job.returns) {
      job.returns++;
      end(id, job, "returned");
      require(job.returns == MAX_RETURNS, "%s failed after %d returns", id, job.returns);
    } else if (json.path("failures").asInt() > job.failures) {
      job.failures++;
      Set<String> codes = codes(id, job, reported(job).split(" ", -1));
      require(
          job.failures >= rules.attempts()
              || codes.stream().anyMatch(rules.fatal()::contains)
              || job.isOver(now + 1),
          "%s failed for good after %d failures, %s",
          id,
          job.failures,
          codes);
    } else {
      require(cancelled.contains(id) || job.isOver(now + 1), "%s failed by nobody's wish", id);
    }
  }

  /** No key has two holders. */
  private void checkKeys() {
    Map<String, String> holders = new HashMap<>();
    jobs.forEach((id, job) -> {
      if (job.holdsAt(now)) {
        String key = job.order.type + "/" + job.order.unique;
        String other = holders.put(key, id);
        require(other == null, "two hold the key %s: %s and %s", key, id, other);
        holdersSince.add(id);
      }
    });
  }

  // What must hold at any moment, and in the end.

  /** No job is over time for longer than it takes to notice. */
  void checkTimes(long nowMillis) {
    jobs.forEach((id, job) -> {
      long attempt = job.order.rules.timeouts().attempt();
      require(
          job.isEnd() || !job.isOver(nowMillis - LATE_MILLIS),
          "%s is over time and goes on at %d: %s",
          id,
          nowMillis,
          job);
      require(
          attempt == 0
              || !job.status.equals("running")
              || nowMillis < job.started + attempt + LATE_MILLIS,
          "an attempt at %s takes too long",
          id);
    });
  }

  /** The jobs that could start at this moment, if one of these workers takes them. */
  Set<String> startable(long nowMillis, Map<String, Set<String>> free) {
    now = Math.max(now, nowMillis);
    Set<String> startable = new HashSet<>();
    jobs.forEach((id, job) -> {
      Limits of = Objects.requireNonNull(limits.get(job.order.type));
      boolean isRoom =
          (of.running == 0 || running(each -> each.type.equals(job.order.type)) < of.running)
              && isRoomFor(job.order.type, job.order.key)
              && (of.starts == 0 || bucket(job.order.type, of).left >= 1.01)
              && (!of.isShared || running(each -> limits(each.type).isShared) < shared);
      Set<String> workers = new HashSet<>(free.getOrDefault(job.order.type, Set.of()));
      workers.remove(job.forbidden);
      if (job.status.equals("pending") && job.notBefore < now && isRoom && !workers.isEmpty()) {
        startable.add(id);
      }
    });
    return startable;
  }

  boolean allHaveEnded() {
    return jobs.values().stream().allMatch(Known::isEnd);
  }

  /** The jobs there are, in the order of their submissions. */
  List<String> ids() {
    return List.copyOf(jobs.keySet());
  }

  @Nullable Known find(String id) {
    return jobs.get(id);
  }

  String summary() {
    long failed = jobs.values().stream().filter(job -> job.status.equals("failed")).count();
    return jobs.size() + " jobs, " + starts + " starts, " + failed + " failed";
  }

  static void require(boolean holds, String otherwise, Object... values) {
    if (!holds) {
      Assertions.fail(otherwise, values);
    }
  }
}
