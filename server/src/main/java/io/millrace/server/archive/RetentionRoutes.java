package io.millrace.server.archive;

import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Role;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.Route.Body;
import io.millrace.http.json.Json;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.registry.TypeSettings.TypeRetentions;
import io.millrace.work.policy.Policy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The routes under {@code /retention}: how long jobs stay in the store, by type, as it is set while
 * the server runs. The type {@code -} stands for jobs without a type.
 */
public record RetentionRoutes(TypeRetentions retentions, JobTypes types) {
  private static final String UNTYPED = "-";
  private static final Set<String> FIELDS = Set.of("keep_finished", "keep_count");

  /** The routes. */
  List<Route> routes() {
    ApiRoutes api =
        ApiRoutes.below("/retention").errors(ErrorForm.PROBLEM_DETAILS).strictQuery(Set.of());
    api.get("/jobs", _ -> list());
    ApiRoutes changes = api.role(Role.OPERATOR);
    changes.body(Body.JSON, FIELDS).action("retention.put").put("/jobs/{type}", this::put);
    changes.action("retention.delete").delete("/jobs/{type}", this::delete);
    return api.routes();
  }

  private Response list() {
    List<ObjectNode> shown = new ArrayList<>();
    Map<String, Policy> set = retentions.all();
    Set<String> names = new TreeSet<>(set.keySet());
    types.all().forEach(type -> names.add(type.name()));
    if (types.isEmpty()) {
      names.add("");
    }
    for (String name : names) {
      shown.add(shown(name, set.getOrDefault(name, Policy.NONE)));
    }
    ObjectNode response = Json.object();
    response.set("types", Json.array(shown, each -> each));
    return Json.response(response);
  }

  private static ObjectNode shown(String type, Policy policy) {
    ObjectNode shown = Json.object().put("type", type.isEmpty() ? UNTYPED : type);
    shown.put("keep_finished", policy.fields().get("keep_finished"));
    String count = policy.fields().get("keep_count");
    return shown.put("keep_count", count == null ? null : Long.parseLong(count));
  }

  private static String type(Request request) {
    String type = request.parameter("type");
    return type.equals(UNTYPED) ? "" : type;
  }

  private Response put(Request request) throws IOException {
    String type = type(request);
    if (types.find(type).isEmpty()) {
      throw HttpProblem.notFound("there is no job type " + request.parameter("type"));
    }
    ObjectNode body = Json.objectBody(request);
    Json.checkFields("a retention", body, FIELDS);
    String age = Json.text("keep_finished", body.get("keep_finished"));
    retentions.put(type, age == null ? "" : age, count(body.get("keep_count")));
    return Json.response(shown(type, retentions.all().getOrDefault(type, Policy.NONE)));
  }

  private static String count(@Nullable JsonNode value) {
    if (value == null || value.isNull()) {
      return "";
    }
    if (!value.isIntegralNumber()) {
      throw HttpProblem.malformed("keep_count must be an integer");
    }
    return value.asString();
  }

  private Response delete(Request request) {
    if (!retentions.delete(type(request))) {
      throw HttpProblem.notFound("nothing is set for the job type " + request.parameter("type"));
    }
    return Json.response(Json.object().put("deleted", request.parameter("type")));
  }
}
