package io.millrace.server.queues;

import io.millrace.http.Caller.Role;
import io.millrace.http.PendingWait.Deadline;
import io.millrace.http.Request;
import io.millrace.http.json.Json;
import io.millrace.http.message.Response;
import io.millrace.queues.ObjectId;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueTask;
import io.millrace.server.queues.TaskRoutes.KnownTasks.Archived;
import io.millrace.work.Watch;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Waits for many tasks in one request. */
record WaitRoute(
    QueueBackend queues,
    Function<Collection<ObjectId>, Watch<ObjectId, QueueTask>> watch,
    Archived archived) {
  private static final Set<String> FIELDS = Set.of("ids", "timeout");
  private static final int MAX_IDS = 10_000;
  private static final int MAX_MILLIS = 600_000;
  private static final int DEFAULT_MILLIS = 30_000;

  void addTo(DciRoutes api) {
    api.limitable().role(Role.VIEWER).post("/tasks/wait", FIELDS, this::respond);
  }

  private Response respond(Request request, Input input) throws InterruptedException {
    input.allow(FIELDS, "Invalid param");
    Set<ObjectId> named = ids(input);
    Set<ObjectId> ids = reached(request, named);
    String wrong = "timeout must be milliseconds from 0 to " + MAX_MILLIS;
    int timeout = Optional.ofNullable(input.count("timeout", wrong)).orElse(DEFAULT_MILLIS);
    if (timeout > MAX_MILLIS) {
      throw Refusal.of(wrong, "timeout", input.get("timeout"));
    }
    try (Watch<ObjectId, QueueTask> tasks = watch.apply(ids);
        Deadline deadline = new Deadline(request, Duration.ofMillis(timeout))) {
      Duration step = deadline.step();
      while (tasks.pending() > 0 && step.isPositive()) {
        tasks.await(step);
        step = deadline.step();
      }
      ObjectNode statuses = Json.object();
      tasks
          .states()
          .forEach((id, task) -> statuses.put(id.hex(), task == null ? null : task.status()));
      addArchived(statuses);
      // What is out of reach is as if it were not there.
      named.stream().filter(id -> !ids.contains(id)).forEach(id -> statuses.putNull(id.hex()));
      ObjectNode shown = Json.object().put("total", named.size());
      shown.put("ended", named.size() - tasks.pending());
      shown.set("tasks", statuses);
      return Json.response(shown);
    }
  }

  private Set<ObjectId> reached(Request request, Set<ObjectId> ids) {
    QueueReach reach = QueueReach.of(request, queues.queues());
    if (reach.isUnlimited()) {
      return ids;
    }
    Map<ObjectId, QueueTask> old = archived.find(List.copyOf(ids));
    return ids.stream()
        .filter(id ->
            queues
                .tasks()
                .find(id)
                .or(() -> Optional.ofNullable(old.get(id)))
                .filter(reach::includes)
                .isPresent())
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /** Adds the archived tasks among those that were not found. */
  private void addArchived(ObjectNode statuses) {
    List<ObjectId> missing =
        statuses
            .propertyStream()
            .filter(task -> task.getValue().isNull())
            .map(task -> new ObjectId(task.getKey()))
            .toList();
    if (!missing.isEmpty()) {
      archived.find(missing).forEach((id, task) -> statuses.put(id.hex(), task.status()));
    }
  }

  private static Set<ObjectId> ids(Input input) {
    JsonNode named = input.get("ids");
    JsonNode given = named == null ? null : list(Input.array(named));
    if (given == null || !given.isArray() || given.size() > MAX_IDS) {
      throw Refusal.of("ids must be an array of at most " + MAX_IDS + " task ids");
    }
    Set<ObjectId> ids = new LinkedHashSet<>();
    for (JsonNode each : given) {
      JsonNode id = each.isObject() ? each.path("$oid") : each;
      ids.add(Input.id("id", id.isString() ? id.asString() : each.toString(), "Bad OID passed"));
    }
    return ids;
  }

  /** A form has no list with one element. */
  private static JsonNode list(JsonNode value) {
    return value.isString() && ObjectId.isValid(value.asString()) ? Json.array().add(value) : value;
  }
}
