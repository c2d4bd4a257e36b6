package io.millrace.bench;

import io.millrace.bench.Bench.BenchException;
import io.millrace.client.JsonCalls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A queue of a server, as a client sees it. While it waits, it asks only twice a second, so that it
 * hardly disturbs the measurement.
 *
 * @param id the queue's id
 */
record BenchQueue(JsonCalls calls, String id) {
  private static final int PART = 1_000;
  private static final int PAGE = 100;
  private static final long PAUSE_MILLIS = 500;
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  /** Creates it. */
  static BenchQueue create(JsonCalls calls, String plugin, int threads) {
    ObjectNode fields = JSON.objectNode();
    fields.put("name", plugin + "-" + threads).put("plugin", plugin).put("threads", threads);
    JsonNode created = calls.post("/dci/queues", fields);
    return new BenchQueue(calls, created.path("id").path("$oid").asString());
  }

  /** Submits this many tasks with the same params; returns the id of the last one. */
  String submit(int tasks, ObjectNode params) {
    String last = "";
    for (int left = tasks; left > 0; left -= PART) {
      ArrayNode part = JSON.arrayNode();
      for (int i = 0; i < Math.min(PART, left); i++) {
        part.add(params);
      }
      JsonNode inserted =
          calls.post("/dci/tasks/" + id, part).path("MongoDB::InsertManyResult").path("inserted");
      last = inserted.path(inserted.size() - 1).path("_id").path("$oid").asString();
    }
    return last;
  }

  /** Waits until none of its tasks is waiting or running. */
  void awaitNone() throws InterruptedException {
    await(queue -> queue.path("queued").asInt() + queue.path("running").asInt(), 0);
  }

  /** Waits until this many are running. */
  void awaitRunning(int tasks) throws InterruptedException {
    await(queue -> queue.path("running").asInt(), tasks);
  }

  private void await(ToIntFunction<JsonNode> count, int wanted) throws InterruptedException {
    JsonNode queue = calls.get("/dci/queues/" + id);
    while (count.applyAsInt(queue) != wanted) {
      if (queue.path("halted").isObject()) {
        throw new BenchException("the queue was halted: " + queue.path("halted"));
      }
      Thread.sleep(PAUSE_MILLIS);
      queue = calls.get("/dci/queues/" + id);
    }
  }

  /** Its tasks with an id beyond {@code after}, oldest first. */
  List<JsonNode> tasks(String after) {
    List<JsonNode> tasks = new ArrayList<>();
    String last = after;
    while (true) {
      ObjectNode question = JSON.objectNode();
      ObjectNode filter = question.putObject("filter").put("queue", id);
      filter.putObject("_id").putObject("$gt").put("$oid", last);
      ObjectNode options = question.putObject("options").put("limit", PAGE);
      options.putObject("sort").put("_id", 1);
      JsonNode page = calls.ask("/dci/tasks/search", question, Duration.ZERO);
      page.forEach(tasks::add);
      if (page.size() < PAGE) {
        return tasks;
      }
      last = tasks.getLast().path("_id").path("$oid").asString();
    }
  }

  /** A task as it is now. */
  JsonNode task(String task) {
    return calls.get("/dci/tasks/id/" + task);
  }

  /** Keeps further tasks from being started. */
  void halt() {
    calls.post("/dci/queues/" + id, JSON.objectNode().put("threads", 0));
  }

  /** Terminates a running task. */
  void terminate(String task) {
    calls.post("/dci/tasks/id/" + task + "/terminate", JSON.objectNode());
  }
}
