package io.millrace.server.jobs;

import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Reach.Area;
import io.millrace.http.Request;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.jobs.JobTypes.JobType;
import java.util.List;
import java.util.stream.Collectors;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The job types of this server, and whether a path has to name one. */
final class Types {
  private final List<JobType> types;

  Types(List<JobType> types) {
    this.types = List.copyOf(types);
  }

  void addTo(ApiRoutes api) {
    api.limitable().get("/types", this::show);
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
          "this server has no job types, so the path must end without one: " + name);
    }
    if (types.stream().noneMatch(type -> type.name().equals(name))) {
      throw HttpProblem.malformed("there is no job type " + name + ", only " + names());
    }
    return reached(request, name);
  }

  private String names() {
    return types.stream().map(JobType::name).collect(Collectors.joining(", "));
  }

  private Response show(Request request) {
    ArrayNode shown = Json.array();
    for (JobType type : types) {
      if (!reaches(request, type.name())) {
        continue;
      }
      ObjectNode settings =
          shown
              .addObject()
              .put("name", type.name())
              .put("description", type.description())
              .put("resultBecomes", type.resultBecomes())
              .putObject("settings");
      type.policy().fields().forEach(settings::put);
    }
    return Json.response(shown);
  }
}
