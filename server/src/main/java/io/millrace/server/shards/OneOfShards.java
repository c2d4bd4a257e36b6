package io.millrace.server.shards;

import io.millrace.http.Request;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpMethod;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.server.queues.Input;
import io.millrace.server.shards.ShardRequests.Outcome;
import io.millrace.server.shards.ShardRequests.Outcome.Answer;
import io.millrace.server.shards.ShardRequests.Outcome.Failure;
import io.millrace.server.shards.ShardRequests.Round;
import io.millrace.wire.Responses;
import io.millrace.wire.ShardPaths;
import io.millrace.wire.ShardPaths.Destination;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * Answers requests at the root that are for one shard, which their path does not tell. If their
 * body tells it, by the name or id of something, that shard gets them, with the credentials of the
 * caller, and its answer is passed on. If only the shards know which of them has a job with some
 * key, a bulk action or what else waits under some name, all are asked for it, and the request is
 * directed to the leader of that one. Thread-safe.
 */
final class OneOfShards {
  /** How long shards have to answer; a wait for tasks, its own time besides. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private static final int MOST_WAIT_SECONDS = 600;
  private static final byte[] NO_BODY = new byte[0];

  private final ShardRequests shards;
  private final ShardPaths paths;

  OneOfShards(ShardRequests shards, ShardPaths paths) {
    this.shards = shards;
    this.paths = paths;
  }

  /** Shards by what a body names, in words for people. */
  private static final class Named {
    private final Map<Integer, String> shards = new TreeMap<>();

    void add(Destination found, String what) {
      if (found instanceof Destination.One(int shard, String _)) {
        shards.putIfAbsent(shard, what);
      }
    }

    /**
     * The one shard.
     *
     * @param otherwise if the body names nothing; null if it has to
     * @throws HttpProblem 400 if it names things of several, or nothing
     */
    int only(@Nullable Integer otherwise) {
      if (shards.size() == 1) {
        return shards.keySet().iterator().next();
      }
      if (shards.isEmpty() && otherwise != null) {
        return otherwise;
      }
      if (shards.isEmpty()) {
        throw MergedLists.nameOne("the request names nothing that is in one shard");
      }
      StringBuilder named = new StringBuilder("the request is for one shard");
      String before = ": ";
      for (Map.Entry<Integer, String> each : shards.entrySet()) {
        named.append(before).append(each.getValue()).append(" is in shard ").append(each.getKey());
        before = ", ";
      }
      throw MergedLists.nameOne(named.toString());
    }
  }

  /** The answer of the shard that the body tells. */
  Response byBody(Request request, HttpMethod method) throws IOException, InterruptedException {
    byte[] body = request.hasBody() ? request.jsonBody() : NO_BODY;
    int shard = shardOf(request, body);
    boolean waits = request.path().equals("/dci/tasks/wait");
    Round round = shards.begin(request, waits ? PATIENCE.plusSeconds(MOST_WAIT_SECONDS) : PATIENCE);
    ShardRequests.Round.Asking asking =
        () -> List.of(round.one(shard, method, request.target(), body, waits));
    List<Outcome> outcomes = waits ? round.awaited(request, asking) : asking.ask();
    return switch (outcomes.getFirst()) {
      case Answer answer -> answer.passedOn();
      case Failure failure -> throw failure.problem();
    };
  }

  private int shardOf(Request request, byte[] body) throws IOException {
    return switch (request.path()) {
      case "/v1/nodes" -> ofNodes(body);
      case "/bulk" -> ofBulk(body);
      case "/v1/scheduler/kill", "/v1/scheduler/wait" -> {
        Named named = new Named();
        request.query().texts("id").forEach(ids -> byIds(named, ids, "node "));
        yield named.only(0);
      }
      default -> ofInput(Input.of(request, body));
    };
  }

  /** By the name or id of a queue, or by ids of tasks. */
  private int ofInput(Input input) {
    Named named = new Named();
    JsonNode all = input.all();
    for (String field : List.of("queueid", "id", "name")) {
      texts(all.path(field), text -> named.add(paths.ofQueue(text), "queue " + text));
    }
    byIds(named, all.path("ids"), "task ");
    return named.only(0);
  }

  private void byIds(Named named, JsonNode ids, String kind) {
    texts(ids, text -> byIds(named, text, kind));
  }

  /** By ids with commas between them. */
  private void byIds(Named named, String ids, String kind) {
    for (String each : ids.split(",", -1)) {
      String id = each.strip();
      paths.ofId(id).ifPresent(shard -> named.add(new Destination.One(shard, null), kind + id));
    }
  }

  /** New nodes are where the nodes are to which they are added, and others where their name is. */
  private int ofNodes(byte[] body) {
    JsonNode nodes = json(body);
    Named named = new Named();
    for (JsonNode node : nodes) {
      JsonNode metadata = node.path("metadata");
      for (String field : List.of("parent", "parents", "after")) {
        byIds(named, metadata.path(field), "node ");
      }
    }
    String name = nodes.path(0).path("metadata").path("name").asString("");
    return named.only(paths.ofName(name));
  }

  /** By the queue, the type or the ids that the filter names. */
  private int ofBulk(byte[] body) {
    JsonNode order = json(body);
    JsonNode filter = order.path("filter");
    boolean ofJobs = order.path("kind").asString("").equals("jobs");
    Named named = new Named();
    texts(filter.path("queue"), text -> named.add(paths.ofQueue(text), "queue " + text));
    if (ofJobs) {
      texts(
          filter.path("type"),
          text -> named.add(new Destination.One(paths.ofName(text), text), "type " + text));
    }
    for (String field : List.of("id", "_id", "below", "parents", "batch")) {
      byIds(named, filter.path(field), "");
    }
    return named.only(null);
  }

  private static JsonNode json(byte[] body) {
    try {
      return Json.read(body);
    } catch (JacksonException _) {
      // The shard says what is wrong with it.
      return Json.object();
    }
  }

  /** All texts and numbers in a value, such as the elements of an array. */
  private static void texts(JsonNode value, Consumer<String> each) {
    if (value.isValueNode()) {
      if (value.isString() || value.isNumber()) {
        each.accept(value.asString());
      }
    } else {
      value.values().forEach(inner -> texts(inner, each));
    }
  }

  /**
   * Directs to the shard that has what the request is for.
   *
   * @param known the path of a read that answers 404 if a shard does not have it
   */
  Response seek(Request request, String known) throws InterruptedException {
    Round round = shards.begin(request, PATIENCE);
    List<Outcome> outcomes = round.all(HttpMethod.GET, known, NO_BODY);
    OptionalInt found = OptionalInt.empty();
    Answer refusal = null;
    HttpProblem problem = null;
    for (int shard = 0; shard < outcomes.size(); shard++) {
      switch (outcomes.get(shard)) {
        case Answer answer when answer.isGood() ->
            found =
                found.isEmpty() ? OptionalInt.of(shard) : several(request, found.getAsInt(), shard);
        case Answer answer -> refusal = answer;
        case Failure failure -> problem = failure.problem();
      }
    }
    if (found.isPresent()) {
      throw direction(request, found.getAsInt());
    }
    if (problem != null || refusal == null) {
      throw problem == null ? HttpProblem.unavailable("no shard has answered", 1) : problem;
    }
    return refusal.passedOn();
  }

  private static OptionalInt several(Request request, int one, int other) {
    throw MergedLists.nameOne(
        "both shard %d and shard %d have %s".formatted(one, other, request.path()));
  }

  private HttpProblem direction(Request request, int shard) {
    String leader = shards.leaders().leader(shard);
    return leader == null
        ? HttpProblem.unavailable("no server leads shard " + shard + " yet", 1)
        : shards
            .leaders()
            .named(new HttpProblem(307, "it is in shard " + shard), shard)
            .withHeader("Location", leader + ShardPaths.PREFIX + shard + request.target())
            .withHeader("Cache-Control", "no-store")
            .withHeader(Responses.ROLE_HEADER, "standby");
  }
}
