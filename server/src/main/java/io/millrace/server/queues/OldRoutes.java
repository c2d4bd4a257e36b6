package io.millrace.server.queues;

import io.millrace.http.Caller.Role;
import io.millrace.http.Request;
import io.millrace.http.json.Json;
import io.millrace.http.message.Response;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend.Submitted;
import io.millrace.queues.QueueBackend.Terms;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.QueuesException.StoreFullException;
import io.millrace.server.queues.QueueRoutes.Plugins;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The routes of version 3 for queues and the creation of tasks. Their errors are {@code [0,
 * error]}, with the result of what was done before as a third element. Their status is 400; as in
 * the original, errors of a creation have 200, except for missing parameters and refusals of the
 * store.
 */
record OldRoutes(QueueRoutes queues, TaskRoutes tasks, UserDocuments documents, Plugins plugins) {
  private static final Set<String> FROM_QUERY =
      Set.of("queueid", "collection", "jsonfilter", "params");

  void addTo(DciRoutes whole) {
    DciRoutes api = whole.limitable();
    api.get("/scheduler-json", (request, _) -> queues.all(request));
    api.get("/queue-prototypes-json", (request, _) -> prototypes(request));
    api.role(Role.VIEWER)
        .post("/queue-prototypes-json", Set.of(), (request, _) -> prototypes(request));
    api.errors(Refusal.UNSUCCESSFUL)
        .role(Role.OPERATOR)
        .action("queue.change")
        .post(
            "/set-queue-attr-json",
            Set.of("queueid", "attr", "value"),
            (request, input) -> setAttribute(request, input));
    api.errors(Refusal.PAIR)
        .role(Role.OPERATOR)
        .action("queue.create")
        .post(
            "/start-queue-json", Set.of("type", "name"), (request, input) -> start(request, input))
        .action("queue.delete")
        .post("/delete-queue-json", Set.of("id"), (request, input) -> delete(request, input));
    api.errors(Refusal.PAIR_AS_SUCCESS)
        .action("task.submit")
        .post(
            "/queue-create-tasks-json",
            Set.of("queueid", "object"),
            (request, input) -> create(request, input))
        .post(
            "/queue-create-tasks-from-query-json",
            FROM_QUERY,
            (request, input) -> createFromQuery(request, input));
  }

  private Response prototypes(Request request) {
    ObjectNode names = Json.object();
    boolean all = queues.reach(request).isUnlimited();
    (all ? plugins.namesInUse() : plugins.names()).forEach(name -> names.put(name, name));
    return Json.response(names);
  }

  private Response setAttribute(Request request, Input input) {
    if (!input.text("attr").equals("threads")) {
      throw Refusal.of("Invalid attr");
    }
    JsonNode value = input.get("value");
    if (value == null || value.isNull()) {
      throw Refusal.of("You must supply a value");
    }
    String queue = id(input, "queueid", "You must supply a queueid");
    ObjectNode result = queues.change(request, queue, input.renamed("value", "threads"));
    return Json.response(Json.object().put("success", 1).setAll(result));
  }

  private Response start(Request request, Input input) {
    String plugin = input.text("type");
    String name = input.text("name");
    if (plugin.isEmpty() || name.isEmpty()) {
      throw Refusal.of("type and name required");
    }
    if (!plugins.namesInUse().contains(plugin)) {
      throw Refusal.of("unknown type");
    }
    Queue queue = queues.create(request, name, plugin);
    ArrayNode response = Json.array().add(1);
    response.add(Shapes.id(queue.id()));
    response.add(Json.object().put("success", 1).setAll(Results.inserted(queue.id())));
    return Json.response(response);
  }

  private Response delete(Request request, Input input) {
    String queue = id(input, "id", "id required");
    try {
      return Json.response(pair(1, queues.delete(request, queue)));
    } catch (Refusal e) {
      // Here the original returns the whole result instead of a text.
      return Json.response(400, pair(0, e.body()));
    }
  }

  private static ArrayNode pair(int success, ObjectNode result) {
    ArrayNode response = Json.array().add(success);
    return response.add(Json.object().put("success", success).setAll(result));
  }

  private Response create(Request request, Input input) {
    // A refusal may have the status 200.
    request.changed(0, null, null);
    if (!input.has("queueid") || !input.has("object")) {
      throw Refusal.of("queueid and object required").severe();
    }
    JsonNode given = input.get("object");
    JsonNode array = given == null ? null : Input.decoded(given);
    if (array == null || !array.isArray()) {
      throw Refusal.of("object param must be a JSON array");
    }
    List<ObjectNode> params = new ArrayList<>();
    for (JsonNode each : array) {
      if (!(each instanceof ObjectNode object) || object.isEmpty()) {
        throw Refusal.of(TaskArray.WRONG);
      }
      params.add(object);
    }
    Queue queue = queue(request, input);
    if (params.isEmpty()) {
      ObjectNode result = Results.inserted(List.of()).put("success", 0).put("error", "no tasks");
      return Json.response(400, Json.array().add(0).add(0).add(result));
    }
    List<Submitted> created = submit(request, queue, params);
    ArrayNode response = Json.array().add(1).add(created.size());
    for (int i = 0; i < created.size(); i++) {
      response.addObject().put("index", i).set("_id", Shapes.id(created.get(i).id()));
    }
    response.add(Json.object().put("success", 1).setAll(Results.inserted(created)));
    return Json.response(response);
  }

  private List<Submitted> submit(Request request, Queue queue, List<ObjectNode> params) {
    try {
      return tasks.submit(request, queue, params, Terms.DEFAULTS);
    } catch (StoreFullException e) {
      throw e;
    } catch (InvalidRequestException e) {
      throw Refusal.of(String.valueOf(e.getMessage())).severe();
    }
  }

  private Response createFromQuery(Request request, Input input) {
    request.changed(0, null, null);
    for (String name : FROM_QUERY) {
      if (!input.has(name)) {
        throw Refusal.of("queueid, collection, jsonfilter, and params required").severe();
      }
    }
    ObjectNode filter = input.object("jsonfilter", "jsonfilter must be a JSON object");
    ObjectNode params = input.object("params", "params must be a JSON object");
    Queue queue = queue(request, input);
    queues.reach(request).checkCollection(input.text("collection"));
    List<ObjectNode> each = documents.params(input.text("collection"), filter, params);
    if (each.isEmpty()) {
      return Json.response(400, Json.array().add(0).add(0));
    }
    return Json.response(Json.array().add(1).add(submit(request, queue, each).size()));
  }

  private Queue queue(Request request, Input input) {
    return queues
        .lookUp(request, id(input, "queueid", "queueid required"))
        .orElseThrow(() -> Refusal.of("Queue not found"));
  }

  /** An id, plain or as {@code {"$oid": …}}, or a name. */
  private static String id(Input input, String field, String error) {
    JsonNode value = input.get(field);
    if (value != null && value.path("$oid").isString()) {
      return value.path("$oid").asString();
    }
    String text = input.text(field);
    if (text.isEmpty()) {
      throw Refusal.of(error);
    }
    return text;
  }
}
