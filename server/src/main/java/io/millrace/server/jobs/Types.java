package io.millrace.server.jobs;

import io.millrace.http.ApiRoutes;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Reply;
import io.millrace.jobs.JobTypes.JobType;
import java.util.List;
import java.util.stream.Collectors;
import tools.jackson.databind.node.ArrayNode;

/** The job types of this server, and whether a path has to name one. */
final class Types {
  private final List<JobType> types;

  Types(List<JobType> types) {
    this.types = List.copyOf(types);
  }

  void addTo(ApiRoutes api) {
    api.get("/types", _ -> show());
  }

  /**
   * The type that a path without one means.
   *
   * @throws HttpProblem 400 if there are types
   */
  String none() {
    if (!types.isEmpty()) {
      throw HttpProblem.malformed(
          "this server has job types, so the path must end with one of them: " + names());
    }
    return "";
  }

  /**
   * The type that a path names.
   *
   * @throws HttpProblem 400 if there is no such type
   */
  String named(String name) {
    if (types.isEmpty()) {
      throw HttpProblem.malformed(
          "this server has no job types, so the path must end without one: " + name);
    }
    if (types.stream().noneMatch(type -> type.name().equals(name))) {
      throw HttpProblem.malformed("there is no job type " + name + ", only " + names());
    }
    return name;
  }

  private String names() {
    return types.stream().map(JobType::name).collect(Collectors.joining(", "));
  }

  private Reply show() {
    ArrayNode shown = Json.array();
    for (JobType type : types) {
      shown
          .addObject()
          .put("name", type.name())
          .put("description", type.description())
          .put("resultBecomes", type.resultBecomes());
    }
    return Json.reply(shown);
  }
}
