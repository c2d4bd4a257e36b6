package io.millrace.server.queues;

import io.millrace.http.Caller.Role;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.http.message.Response;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.search.SearchOptions;
import io.millrace.queues.search.TaskFilter;
import io.millrace.queues.search.TaskFinder;
import io.millrace.queues.search.TaskFinder.Found;
import io.millrace.server.config.EditDistance;
import io.millrace.server.queues.Shapes.OutputForm;
import io.millrace.server.queues.Shapes.Times;
import io.millrace.work.filter.Filter;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Search for tasks. */
record SearchRoutes(TaskFinder search, Shapes shapes, QueueBackend.Definitions queues) {
  private static final String NOT_OBJECTS = "filter and options must be name/value objects";

  private static final List<String> PARAMS =
      List.of("filter", "options", "count", "terse", "pretty", "archived");
  private static final Set<String> BEFORE_4 =
      Set.of("filter", "queue", "limit", "skip", "count", "terse");
  private static final Set<String> OPTIONS = Set.of("limit", "skip", "sort", "projection");
  private static final Set<String> FIELDS =
      Set.of(
          "_id",
          "id",
          "queue",
          "status",
          "node",
          "params",
          "ctime",
          "mtime",
          "stdout",
          "stderr",
          "mixedout",
          "reason",
          "orphaned",
          "attempt",
          "snoozed",
          "not_before",
          "started",
          "tags");

  /** Adds the route that only reads the store. */
  void addReadsTo(DciRoutes api) {
    api.limitable()
        .stale()
        .role(Role.VIEWER)
        .post("/tasks/search", Set.copyOf(PARAMS), this::respond);
  }

  /** Adds the route of version 3. */
  void addOldTo(DciRoutes api) {
    api.limitable()
        .errors(Refusal.PAIR_AS_SUCCESS)
        .role(Role.VIEWER)
        .post("/search-tasks-json", BEFORE_4, this::answerBefore4);
  }

  /** Refuses unknown names, which would otherwise widen the search to everything. */
  private static void checkNames(Input input) {
    for (String name : input.all().propertyNames()) {
      boolean ofQuery = input.form() && name.equals(Route.STALE);
      if (!PARAMS.contains(name) && !ofQuery) {
        throw Refusal.of("unknown param " + name + "; " + advice(name), "param", name);
      }
    }
  }

  private static String advice(String name) {
    if (OPTIONS.contains(name)) {
      return "it belongs into options";
    }
    if (FIELDS.contains(name) || name.startsWith("params.") || name.startsWith("$")) {
      return "it belongs into filter";
    }
    String near = EditDistance.suggestion(name, PARAMS);
    return near == null
        ? "the params are " + String.join(", ", PARAMS)
        : "did you mean " + near + "?";
  }

  private Response respond(Request request, Input input) {
    checkNames(input);
    ObjectNode options = input.object("options", NOT_OBJECTS);
    SearchOptions wanted = SearchOptions.read(options);
    QueueReach reach = QueueReach.of(request, queues);
    Filter filter =
        reach.within(
            TaskFilter.of(
                input.object("filter", NOT_OBJECTS),
                InstantSource.system().instant(),
                name -> queues.find(name).filter(reach::includes).map(Queue::id)));
    boolean pretty = input.bool("pretty", false);
    boolean archived = input.bool("archived", false);
    if (input.bool("count", false)) {
      return Shapes.response(Json.object().put("count", search.count(filter, archived)), pretty);
    }
    List<Found> found = search.find(filter, wanted, archived);
    OutputForm form = Shapes.terse();
    if (!input.bool("terse", true)) {
      shapes.check(found, wanted.projection());
      form = shapes.content();
    }
    OutputForm shown = form;
    return Shapes.tasks(
        found, task -> Shapes.of(task, shown, Times.SECONDS, wanted.projection()), pretty);
  }

  /** Answers like version 3: errors have status 200, times are whole seconds with their text. */
  private Response answerBefore4(Request request, Input input) {
    ObjectNode given = input.object("filter", "JSON object required for filter").deepCopy();
    if (input.has("queue")) {
      given.set("queue", input.get("queue"));
    }
    JsonNode id = given.remove("id");
    if (id != null) {
      given.set("_id", id);
    }
    if (given.path("status").isString() && given.path("status").asString().matches("-?\\d{1,9}")) {
      given.put("status", Integer.parseInt(given.path("status").asString()));
    }
    Filter filter = QueueReach.of(request, queues).within(TaskFilter.of(given));
    ObjectNode options = Json.object();
    for (String name : new String[] {"limit", "skip"}) {
      Integer number = input.count(name, name + " must be a non-negative integer");
      options.put(name, number);
    }
    SearchOptions wanted = SearchOptions.read(options);
    if (input.bool("count", false)) {
      return Json.response(Json.array().add(1).add(search.count(filter, false)));
    }
    OutputForm form = input.bool("terse", false) ? Shapes.terseBefore4() : shapes.content();
    return Shapes.tasks(
        search.find(filter, wanted, false),
        task -> Shapes.of(task, form, Times.WHOLE_SECONDS, wanted.projection()),
        false);
  }
}
