package io.millrace.server.bulk;

import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Role;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.Route.Body;
import io.millrace.http.json.Json;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.http.message.Response;
import io.millrace.server.security.Principals;
import io.millrace.work.bulk.BulkAction;
import io.millrace.work.bulk.BulkAction.Starter;
import io.millrace.work.bulk.BulkAction.State;
import io.millrace.work.bulk.BulkActions;
import io.millrace.work.bulk.BulkActions.Preview;
import io.millrace.work.bulk.BulkOrder;
import io.millrace.work.bulk.BulkProgress;
import io.millrace.work.bulk.BulkProgress.Skip;
import io.millrace.work.bulk.BulkTarget.Item;
import java.io.IOException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Starts, shows and cancels bulk actions. A caller with a limited reach changes what is in reach,
 * and sees the bulk actions that it has started itself.
 *
 * @param wake has new bulk actions carried out soon
 */
record BulkRoutes(BulkActions actions, Runnable wake) {
  private static final int DEFAULT_LIMIT = 100;
  private static final int MAX_LIMIT = 1_000;
  private static final Set<String> FIELDS =
      Set.of("kind", "action", "filter", "all", "options", "dry_run");

  List<Route> routes() {
    ApiRoutes api =
        ApiRoutes.below("/bulk")
            .errors(ErrorForm.PROBLEM_DETAILS)
            .strictQuery(Set.of())
            .limitable();
    api.strictQuery(Set.of("after", "limit")).get("", this::list);
    api.get("/{id}", request -> Json.response(full(find(request))));
    ApiRoutes changes = api.role(Role.OPERATOR);
    changes.body(Body.JSON, FIELDS).action("bulk.start").post("", this::start);
    changes.action("bulk.cancel").post("/{id}/cancel", this::cancel);
    changes.action("bulk.delete").delete("/{id}", this::delete);
    return api.routes();
  }

  private Response start(Request request) throws IOException {
    ObjectNode body = Json.objectBody(request);
    Json.checkFields("a bulk action", body, FIELDS);
    BulkOrder order =
        new BulkOrder(
            required(body, "kind"),
            required(body, "action"),
            object(body, "filter"),
            options(object(body, "options")),
            reach(request, body.path("kind").asString("")));
    boolean all = flag(body, "all");
    if (flag(body, "dry_run")) {
      Preview preview = actions.preview(order, all);
      request.changed(0, null, null);
      return Json.response(of(preview));
    }
    BulkAction started = actions.start(order, all, starter(request));
    request.changed(1, started.id(), started.id());
    wake.run();
    return Json.response(202, Map.of("Location", "/bulk/" + started.id()), full(started));
  }

  private static Starter starter(Request request) {
    return new Starter(
        request.caller().principal(), request.caller().key(), request.client().getHostAddress());
  }

  /** What the reach of the caller includes of one kind of items; null if that is everything. */
  private static @Nullable Set<String> reach(Request request, String kind) {
    if (!(request.caller().reach() instanceof Principals.Limited(var reach))) {
      if (!request.caller().reach().coversEverything()) {
        throw new HttpProblem(403, "bulk actions are not for " + request.caller().principal());
      }
      return null;
    }
    Set<String> names =
        switch (BulkPart.area(kind)) {
          case QUEUES -> reach.queues();
          case TYPES -> reach.types();
          case GRAPH -> reach.graph();
          case GROUPS, BLOBS, CLUSTER -> Set.of();
        };
    return names.contains("") ? null : names;
  }

  private static String required(ObjectNode body, String field) {
    String text = Json.text(field, body.get(field));
    if (text == null) {
      throw HttpProblem.malformed("a bulk action needs " + field);
    }
    return text;
  }

  private static ObjectNode object(ObjectNode body, String field) {
    JsonNode value = body.get(field);
    if (value == null || value.isNull()) {
      return Json.object();
    }
    if (value instanceof ObjectNode object) {
      return object;
    }
    throw HttpProblem.malformed(field + " must be an object, not " + Json.shortened(value));
  }

  private static Map<String, String> options(ObjectNode given) {
    Map<String, String> options = new HashMap<>();
    for (Map.Entry<String, JsonNode> option : given.properties()) {
      JsonNode value = option.getValue();
      if (!value.isValueNode() || value.isNull()) {
        throw HttpProblem.malformed(
            "the option "
                + option.getKey()
                + " must be a text, a number or a boolean, not "
                + Json.shortened(value));
      }
      options.put(option.getKey(), value.asString());
    }
    return options;
  }

  private static boolean flag(ObjectNode body, String field) {
    JsonNode value = body.get(field);
    if (value == null || value.isNull()) {
      return false;
    }
    if (!value.isBoolean()) {
      throw HttpProblem.malformed(field + " must be true or false, not " + Json.shortened(value));
    }
    return value.booleanValue();
  }

  private static boolean isVisible(Request request, BulkAction action) {
    return request.caller().reach().coversEverything()
        || action.starter().principal().equals(request.caller().principal());
  }

  private BulkAction find(Request request) {
    String id = request.parameter("id");
    return actions
        .find(id)
        .filter(action -> isVisible(request, action))
        .orElseThrow(() -> HttpProblem.notFound("there is no bulk action " + id));
  }

  private Response list(Request request) {
    Query query = request.query();
    int limit = (int) query.integer("limit", DEFAULT_LIMIT, 1, MAX_LIMIT);
    String after = query.text("after").orElse(null);
    List<BulkAction> found =
        actions.list().stream()
            .filter(action -> isVisible(request, action))
            .filter(action -> after == null || action.id().compareTo(after) < 0)
            .limit(limit)
            .toList();
    ObjectNode answer = Json.object();
    answer.set("actions", Json.array(found, BulkRoutes::of));
    return Json.response(answer.put("next", found.size() == limit ? found.getLast().id() : null));
  }

  private Response cancel(Request request) {
    return Json.response(full(actions.cancel(find(request).id())));
  }

  private Response delete(Request request) {
    String id = find(request).id();
    actions.delete(id);
    return Json.response(Json.object().put("deleted", id));
  }

  private static ObjectNode of(Preview preview) {
    ObjectNode shown = order(Json.object(), preview.order());
    shown.put("total", preview.total());
    ArrayNode examples = shown.putArray("examples");
    for (Item item : preview.examples()) {
      examples.addObject().put("id", item.id()).put("summary", item.summary());
    }
    return shown;
  }

  private static ObjectNode order(ObjectNode shown, BulkOrder order) {
    shown.put("kind", order.kind()).put("action", order.action()).set("filter", order.filter());
    ObjectNode options = shown.putObject("options");
    order.options().forEach(options::put);
    return shown;
  }

  private static ObjectNode of(BulkAction action) {
    BulkProgress progress = action.progress();
    ObjectNode shown = order(Json.object().put("id", action.id()), action.order());
    shown.put("state", action.state().word());
    shown.put("total", action.total());
    shown.put("done", progress.done());
    shown.put("skipped", progress.skips());
    shown.put("principal", action.starter().principal());
    shown.put("started", Instant.ofEpochMilli(action.createdMillis()).toString());
    boolean runs = action.state() == State.RUNNING;
    shown.put("ended", runs ? null : Instant.ofEpochMilli(action.endedMillis()).toString());
    shown.put("problem", action.problem());
    return shown;
  }

  private static ObjectNode full(BulkAction action) {
    ObjectNode shown = of(action);
    ObjectNode reasons = shown.putObject("reasons");
    action.progress().skipped().forEach(reasons::put);
    ArrayNode examples = shown.putArray("examples");
    for (Skip skip : action.progress().examples()) {
      examples.addObject().put("id", skip.id()).put("reason", skip.reason());
    }
    return shown;
  }
}
