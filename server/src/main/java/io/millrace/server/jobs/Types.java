package io.millrace.server.jobs;

import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Reach.Area;
import io.millrace.http.Caller.Role;
import io.millrace.http.Request;
import io.millrace.http.Route.Body;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.registry.JobCounts;
import io.millrace.jobs.registry.JobCounts.Kind;
import io.millrace.jobs.registry.TypeSettings;
import io.millrace.work.policy.Policy;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The job types of this server, and whether a path has to name one. */
final class Types {
  /** Stands for the jobs of a server without types in a path. */
  private static final String UNTYPED = "-";

  private final List<JobType> types;
  private final Reads reads;
  private final TypeSettings settings;

  Types(List<JobType> types, JobCounts counts, TypeSettings settings) {
    this.types = List.copyOf(types);
    this.reads = new Reads(() -> this.types, counts, settings::set);
    this.settings = settings;
  }

  void addTo(ApiRoutes api) {
    reads.addTo(api);
    ApiRoutes changes = api.limitable().role(Role.OPERATOR);
    changes
        .body(Body.JSON, Policy.Field.keysOfTypes())
        .action("type.change")
        .put("/types/{type}", request -> change(request, true))
        .patch("/types/{type}", request -> change(request, false));
    changes.action("type.change").delete("/types/{type}", this::reset);
  }

  /** Whether jobs of this type are within the reach of the caller. */
  static boolean reaches(Request request, String type) {
    return request.caller().reach().includes(Area.TYPES, type);
  }

  private static String reached(Request request, String type) {
    if (!reaches(request, type)) {
      throw new HttpProblem(
          403,
          (type.isEmpty() ? "jobs without a type are" : "the job type " + type + " is")
              + " out of reach of "
              + request.caller().principal());
    }
    request.concerns(Area.TYPES, type);
    return type;
  }

  /**
   * The type that a path without one means.
   *
   * @throws HttpProblem 400 if there are types, 403 if such jobs are out of reach of the caller
   */
  String none(Request request) {
    if (!types.isEmpty()) {
      throw HttpProblem.malformed(
          "this server has job types, so the path must end with one of them: " + names());
    }
    return reached(request, "");
  }

  /**
   * The type that a path names.
   *
   * @throws HttpProblem 400 if there is no such type, 403 if it is out of reach of the caller
   */
  String named(Request request, String name) {
    if (types.isEmpty()) {
      throw HttpProblem.malformed(
          "this server has no job types, so there is no type "
              + name
              + "; leave it out, or configure jobs.types."
              + name);
    }
    if (types.stream().noneMatch(type -> type.name().equals(name))) {
      throw HttpProblem.malformed("there is no job type " + name + ", only " + names());
    }
    return reached(request, name);
  }

  private String names() {
    return types.stream().map(JobType::name).collect(Collectors.joining(", "));
  }

  private Response change(Request request, boolean replaces) throws IOException {
    JobType type = reads.type(request);
    Map<String, String> changes = new TreeMap<>();
    Json.objectBody(request)
        .properties()
        .forEach(field -> changes.put(field.getKey(), text(field.getKey(), field.getValue())));
    Policy _ = settings.change(type.name(), changes, replaces);
    return Json.response(reads.shown(type));
  }

  private Response reset(Request request) {
    JobType type = reads.type(request);
    Policy _ = settings.change(type.name(), Map.of(), true);
    return Json.response(reads.shown(type));
  }

  /** A setting as text; empty if it is to be taken back. */
  private static String text(String field, JsonNode value) {
    if (value.isNull()) {
      return "";
    }
    if (value.isNumber()) {
      return value.decimalValue().toPlainString();
    }
    if (!value.isString() || value.asString().isEmpty()) {
      throw HttpProblem.malformed(field + " must be a number, a text or null");
    }
    return value.asString();
  }

  /**
   * Shows the types.
   *
   * @param types all of them
   * @param counts counts their jobs
   * @param settings what was set while the server runs, by the names of the types
   */
  record Reads(
      Supplier<List<JobType>> types, JobCounts counts, Supplier<Map<String, Policy>> settings) {
    void addTo(ApiRoutes all) {
      ApiRoutes api = all.limitable().stale();
      api.get("/types", this::show).get("/types/{type}", this::showOne);
    }

    private Response show(Request request) {
      ArrayNode shown = Json.array();
      Map<Kind, Long> unfinished = counts.unfinished();
      for (JobType type : types.get()) {
        if (!reaches(request, type.name())) {
          continue;
        }
        shown.add(shown(type, unfinished));
      }
      return Json.response(shown);
    }

    ObjectNode shown(JobType type) {
      return shown(type, counts.unfinished());
    }

    private ObjectNode shown(JobType type, Map<Kind, Long> unfinished) {
      Policy set = settings.get().getOrDefault(type.name(), Policy.NONE);
      ObjectNode one =
          Json.object()
              .put("name", type.name().isEmpty() ? UNTYPED : type.name())
              .put("description", type.description())
              .put("resultBecomes", type.resultBecomes());
      set.over(type.policy()).fields().forEach(one.putObject("settings")::put);
      set.fields().forEach(one.putObject("set")::put);
      ObjectNode jobs = one.putObject("jobs");
      for (JobStatus status : List.of(JobStatus.PENDING, JobStatus.RUNNING)) {
        jobs.put(status.word(), unfinished.getOrDefault(new Kind(type.name(), status), 0L));
      }
      return one;
    }

    /** The type that a request names within the reach of its caller. */
    JobType type(Request request) {
      String name = request.parameter("type");
      List<JobType> all = types.get();
      if (all.isEmpty() && name.equals(UNTYPED) && reaches(request, "")) {
        request.concerns(Area.TYPES, "");
        return new JobType("", null, null);
      }
      JobType found =
          all.stream()
              .filter(type -> type.name().equals(name) && reaches(request, name))
              .findFirst()
              .orElseThrow(() -> HttpProblem.notFound("there is no job type " + name));
      request.concerns(Area.TYPES, name);
      return found;
    }

    private Response showOne(Request request) {
      return Json.response(shown(type(request)));
    }
  }
}
