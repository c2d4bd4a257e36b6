package io.millrace.server.schedules;

import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Role;
import io.millrace.http.Request;
import io.millrace.http.Route.Body;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.http.message.Response;
import io.millrace.schedules.Schedule;
import io.millrace.schedules.ScheduleState;
import io.millrace.schedules.ScheduleState.MissedRun;
import io.millrace.schedules.ScheduleState.Pause;
import io.millrace.schedules.ScheduleState.Result;
import io.millrace.schedules.ScheduleState.Run;
import io.millrace.schedules.Schedules;
import io.millrace.schedules.Schedules.View;
import io.millrace.schedules.SchedulesException.NoScheduleException;
import io.millrace.work.filter.Condition;
import io.millrace.work.filter.Condition.Contains;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.InstantSource;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/**
 * Reads and changes schedules. Times are shown with the offset of the schedule's zone. A caller
 * with a limited reach sees and changes the schedules whose targets are in reach; the others are as
 * if they were not there.
 */
final class ScheduleRoutes {
  private static final Set<String> PAUSE = Set.of("note");
  private static final Set<String> BACKFILL = Set.of("from", "until");
  private static final int SHOWN_TIMES = 10;
  private static final int PAGE = 100;
  private static final int LARGEST_PAGE = 1_000;

  private final Schedules schedules;
  private final List<LimitedTarget> targets;
  private final InstantSource clock;

  ScheduleRoutes(Schedules schedules, List<LimitedTarget> targets, InstantSource clock) {
    this.schedules = schedules;
    this.targets = List.copyOf(targets);
    this.clock = clock;
  }

  /** Adds those that only read the store. */
  void addReadsTo(ApiRoutes all) {
    ApiRoutes api = all.stale();
    api.strictQuery(Set.of("prefix", "text", "paused", "after", "limit", "order"))
        .get("", this::list);
    api.strictQuery(Set.of("count", "after")).get("/{name}/next", this::next);
    api.strictQuery(Set.of()).get("/{name}", request -> response(find(request)));
  }

  void addTo(ApiRoutes api) {
    addReadsTo(api);
    ApiRoutes changes = api.role(Role.OPERATOR).strictQuery(Set.of());
    api.strictQuery(Set.of("count", "after"))
        .role(Role.VIEWER)
        .body(Body.JSON, Schedule.FIELDS)
        .post("/preview", this::preview);
    changes
        .body(Body.JSON, Schedule.FIELDS)
        .action("schedule.put")
        .put("/{name}", this::put)
        .body(Body.JSON, PAUSE)
        .action("schedule.pause")
        .post("/{name}/pause", this::pause)
        .body(Body.JSON, BACKFILL)
        .action("schedule.backfill")
        .post("/{name}/backfill", this::backfill);
    changes
        .action("schedule.resume")
        .post("/{name}/resume", request -> response(schedules.resume(reached(request))))
        .action("schedule.run")
        .post("/{name}/run", this::run)
        .action("schedule.delete")
        .delete("/{name}", this::delete);
  }

  private static String name(Request request) {
    return request.parameter("name");
  }

  /** The schedule that a path names, if it is in reach. */
  private View find(Request request) {
    View view = schedules.get(name(request));
    if (!isInReach(request, view.schedule().target())) {
      throw new NoScheduleException(name(request));
    }
    return view;
  }

  /** The name of a schedule that is to be changed; it is there, and in reach. */
  private String reached(Request request) {
    find(request);
    return name(request);
  }

  /** Whether the reach of the caller includes what a target runs. Says to the audit what it is. */
  private boolean isInReach(Request request, ObjectNode described) {
    for (LimitedTarget target : targets) {
      if (described.has(target.field())) {
        LimitedTarget.Scope scope = target.scope(described);
        request.concerns(scope.area(), scope.name());
        return request.caller().reach().coversEverything() || target.isInReach(request, described);
      }
    }
    return request.caller().reach().coversEverything();
  }

  private Response put(Request request) throws IOException {
    ObjectNode form = Json.objectBody(request);
    View old = schedules.find(name(request)).orElse(null);
    boolean reached =
        (old == null || isInReach(request, old.schedule().target()))
            && (!(form.get("target") instanceof ObjectNode target) || isInReach(request, target));
    if (!reached) {
      throw new HttpProblem(
          403,
          "the schedule %s is or would be out of reach of %s"
              .formatted(name(request), request.caller().principal()));
    }
    return response(schedules.put(name(request), form));
  }

  private Response list(Request request) {
    Query query = request.query();
    int limit = (int) query.integer("limit", PAGE, 1, LARGEST_PAGE);
    boolean unlimited = request.caller().reach().coversEverything();
    Predicate<View> wanted = view -> unlimited || isInReach(request, view.schedule().target());
    if (query.text("paused").isPresent()) {
      boolean paused = query.bool("paused", true);
      wanted = wanted.and(view -> (view.state().pause() != null) == paused);
    }
    String part = query.text("text").orElse("");
    if (!part.isEmpty()) {
      Condition text = new Contains(part.toLowerCase(Locale.ROOT));
      wanted = wanted.and(view -> text.test(described(view.schedule())));
    }
    String prefix = query.text("prefix").orElse("");
    String after = query.text("after").orElse("");
    ScheduleOrder order = ScheduleOrder.of(query);
    List<ObjectNode> found =
        order == ScheduleOrder.NAME
            ? schedules.list(prefix, after, limit, wanted).stream()
                .map(ScheduleRoutes::summary)
                .toList()
            : schedules.list(prefix, "", Integer.MAX_VALUE, wanted).stream()
                .map(ScheduleRoutes::summary)
                .filter(after.isEmpty() ? _ -> true : order.after(after))
                .sorted(order.comparator())
                .limit(limit)
                .toList();
    ObjectNode response = Json.object();
    response.set("schedules", Json.array().addAll(found));
    response.put("next", found.size() == limit ? order.place(found.getLast()) : null);
    return Json.response(response);
  }

  /** What a text is looked for in. */
  private static List<JsonNode> described(Schedule schedule) {
    return List.of(StringNode.valueOf(schedule.name()), schedule.target());
  }

  private Response next(Request request) {
    View view = find(request);
    ObjectNode response = Json.object();
    response.set("next", next(request, view.schedule()));
    return Json.response(response);
  }

  private ArrayNode next(Request request, Schedule schedule) {
    int count = (int) request.query().integer("count", SHOWN_TIMES, 1, Schedules.MAX_TIMES);
    Instant after =
        request.query().text("after").map(text -> instant("after", text)).orElse(clock.instant());
    return times(schedule.times().next(after, count), schedule.zone());
  }

  private Response preview(Request request) throws IOException {
    ObjectNode form = Json.objectBody(request);
    if (form.get("target") instanceof ObjectNode target && !isInReach(request, target)) {
      throw new HttpProblem(403, "the target is out of reach of " + request.caller().principal());
    }
    Schedule schedule = schedules.preview(form);
    ObjectNode response = Json.object();
    response.set("next", next(request, schedule));
    return Json.response(response);
  }

  private Response pause(Request request) throws IOException {
    ObjectNode body = request.hasBody() ? Json.objectBody(request) : Json.object();
    Json.checkFields("a pause", body, PAUSE);
    String note = Json.text("note", body.get("note"));
    return response(schedules.pause(reached(request), note == null ? "" : note));
  }

  private Response run(Request request) {
    String name = reached(request);
    Run run = schedules.runNow(name);
    return Json.response(run(run, find(request).schedule().zone()));
  }

  private Response backfill(Request request) throws IOException {
    ObjectNode body = Json.objectBody(request);
    Json.checkFields("a backfill", body, BACKFILL);
    String from = Json.text("from", body.get("from"));
    String until = Json.text("until", body.get("until"));
    if (from == null || until == null) {
      throw HttpProblem.malformed("a backfill needs from and until, the first and the last time");
    }
    List<Instant> times =
        schedules.backfill(reached(request), instant("from", from), instant("until", until));
    ObjectNode response = Json.object();
    response.put("runs", times.size());
    response.put("more", times.size() == Schedules.MAX_TIMES);
    response.set("times", times(times, find(request).schedule().zone()));
    return Json.response(response);
  }

  private Response delete(Request request) {
    schedules.delete(reached(request));
    return Json.response(Json.object().put("deleted", name(request)));
  }

  private static Instant instant(String what, String text) {
    try {
      return OffsetDateTime.parse(text.toUpperCase(Locale.ROOT)).toInstant();
    } catch (DateTimeException _) {
      throw HttpProblem.malformed(
          what + " is a time with an offset, for example 2026-12-24T18:00:00Z, not " + text);
    }
  }

  private Response response(View view) {
    ObjectNode shown = summary(view);
    ScheduleState state = view.state();
    ZoneId zone = view.schedule().zone();
    shown.set("next", times(view.schedule().times().next(clock.instant(), SHOWN_TIMES), zone));
    shown.set("active", Json.array(state.active(), run -> run(run, zone)));
    shown.set("waiting", times(state.waiting(), zone));
    ArrayNode backfills = shown.putArray("backfills");
    state
        .backfills()
        .forEach(each ->
            backfills
                .addObject()
                .put("after", time(each.after(), zone))
                .put("until", time(each.until(), zone)));
    shown.put("failures_in_row", state.failuresInRow());
    shown.set("results", Json.array(state.results(), result -> result(result, zone)));
    return Json.response(shown);
  }

  private static ObjectNode summary(View view) {
    ScheduleState state = view.state();
    ZoneId zone = view.schedule().zone();
    ObjectNode shown = Json.object().put("name", view.schedule().name());
    shown.setAll(view.schedule().form());
    shown.put("created", time(view.created(), zone));
    shown.put("due", view.due().map(due -> time(due, zone)).orElse(null));
    Pause pause = state.pause();
    if (pause == null) {
      shown.putNull("paused");
    } else {
      shown
          .putObject("paused")
          .put("since", time(pause.since(), zone))
          .put("note", pause.note())
          .put("failures", pause.failures());
    }
    shown
        .putObject("counts")
        .put("started", state.counts().started())
        .put("succeeded", state.counts().succeeded())
        .put("failed", state.counts().failed())
        .put("missed", state.counts().missed())
        .put("skipped", state.counts().skipped());
    MissedRun missed = state.lastMissed();
    if (missed == null) {
      shown.putNull("last_missed");
    } else {
      shown
          .putObject("last_missed")
          .put("nominal", time(missed.nominal(), zone))
          .put("noticed", time(missed.noticed(), zone));
    }
    return shown;
  }

  private static JsonNode run(Run run, ZoneId zone) {
    return Json.object()
        .put("id", run.id())
        .put("nominal", time(run.nominal(), zone))
        .put("started", time(run.started(), zone))
        .put("cause", lower(run.cause()))
        .put("cancelled", run.cancelled());
  }

  private static JsonNode result(Result result, ZoneId zone) {
    return Json.object()
        .put("id", result.id().isEmpty() ? null : result.id())
        .put("nominal", time(result.nominal(), zone))
        .put("started", time(result.started(), zone))
        .put("ended", time(result.ended(), zone))
        .put("cause", lower(result.cause()))
        .put("ending", lower(result.ending()))
        .put("reason", result.reason());
  }

  private static ArrayNode times(List<Instant> times, ZoneId zone) {
    ArrayNode array = Json.array();
    times.forEach(time -> array.add(time(time, zone)));
    return array;
  }

  private static @Nullable String time(Instant time, ZoneId zone) {
    return time.atZone(zone).toOffsetDateTime().toString();
  }

  private static String lower(Enum<?> word) {
    return word.name().toLowerCase(Locale.ROOT);
  }
}
