package io.millrace.server.shards;

import io.millrace.http.Request;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpMethod;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.http.message.Response;
import io.millrace.jobs.JobId;
import io.millrace.queues.ObjectId;
import io.millrace.server.queues.Input;
import io.millrace.server.shards.MergedLists.Need;
import io.millrace.server.shards.MergedLists.Rule;
import io.millrace.server.shards.ShardRequests.Outcome;
import io.millrace.server.shards.ShardRequests.Outcome.Answer;
import io.millrace.server.shards.ShardRequests.Outcome.Failure;
import io.millrace.server.shards.ShardRequests.Round;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Answers requests at the root that concern all shards: lists, which it merges, and changes, which
 * it makes in all. It asks the leaders of all shards at once, with the credentials of the caller,
 * so each shard keeps to the reach of the caller. The caller must be known, see {@link
 * Request#caller}. Thread-safe.
 *
 * <ul>
 *   <li>An error of the client that some shard answers, such as 400 or 403, is passed on as it is.
 *   <li>503 with {@code Retry-After} says which shard has no leader or does not answer in time, and
 *       502 which one answers something else.
 *   <li>400 with {@code name one shard} is the answer to what shards cannot answer together: pages
 *       that would leave something out, searches beyond 2,000 tasks, waits for newer nodes, and
 *       answers of more than 32 MiB together.
 * </ul>
 */
final class AllShards {
  /** How long all shards together have to answer. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private static final String NODES = "GET /v1/nodes";
  private static final String NODE = "GET /dci/nodes/{node}";
  private static final String CONFIG = "GET /dci/config";
  private static final String CHANGE_CONFIG = "POST /dci/config";
  private static final String DELETE_NODE = "DELETE /dci/nodes/{node}";
  private static final String WAIT = "GET /api/batches/{batch}/wait";
  private static final String OLD_SEARCH = "POST /dci/search-tasks-json";
  private static final Set<String> SEARCHES = Set.of("POST /dci/tasks/search", OLD_SEARCH);
  private static final Set<String> CHANGES =
      Set.of("POST /dci/nodes/{node}", DELETE_NODE, CHANGE_CONFIG);

  private static final String NODES_BELOW = "/dci/nodes/";
  private static final String NO_NODE = "node not found";
  private static final int MAX_WAIT_SECONDS = 600;
  private static final int USUAL_WAIT_SECONDS = 30;
  private static final byte[] NO_BODY = new byte[0];

  /** The routes that concern all shards, each a method and a path as in docs/routes.md. */
  private static final Set<String> ROUTES = routes();

  private final ShardRequests shards;
  private final Duration patience;

  /** All shards as a server sees them. */
  AllShards(ShardRequests shards) {
    this(shards, PATIENCE);
  }

  /**
   * The same.
   *
   * @param patience how long all shards together have to answer
   */
  AllShards(ShardRequests shards, Duration patience) {
    this.shards = shards;
    this.patience = patience;
  }

  private static Set<String> routes() {
    Set<String> all = new HashSet<>(MergedLists.routes());
    all.add(NODES);
    all.addAll(SEARCHES);
    all.addAll(CHANGES);
    return Set.copyOf(all);
  }

  /** The routes that concern all shards, each a method and a path as in docs/routes.md. */
  static Set<String> all() {
    return ROUTES;
  }

  private static String route(HttpMethod method, String path) {
    return (method == HttpMethod.HEAD ? HttpMethod.GET : method) + " " + path;
  }

  /**
   * The answer of all shards.
   *
   * @param method the method of the route
   * @param path the path of the route
   * @throws HttpProblem if there is none, see above; 403 if the caller cannot be passed on
   * @throws IllegalArgumentException if the route does not concern all shards
   */
  Response answer(Request request, HttpMethod method, String path)
      throws IOException, InterruptedException {
    String route = route(method, path);
    Round round = shards.begin(request, timeout(request, route));
    if (SEARCHES.contains(route)) {
      return search(request, round, route.equals(OLD_SEARCH));
    }
    if (CHANGES.contains(route)) {
      return change(request, round, method, route);
    }
    if (route.equals(NODES)) {
      return nodes(request, round);
    }
    Rule rule = MergedLists.rule(route);
    if (rule == null) {
      throw new IllegalArgumentException(route + " does not concern all shards");
    }
    byte[] body = request.body();
    String target =
        switch (route) {
          case NODE, CONFIG -> named(request, round);
          case "GET /api/jobs" -> afterJob(request, round);
          default -> request.target();
        };
    List<Outcome> outcomes =
        route.equals(WAIT)
            ? round.awaited(request, () -> round.all(HttpMethod.GET, target, NO_BODY))
            : round.all(sent(method), target, body);
    return merged(
        outcomes, rule.need(), answers -> Json.response(rule.merge().of(request.query(), answers)));
  }

  /** Routes for GET answer HEAD too, but only the body tells what is merged. */
  private static HttpMethod sent(HttpMethod method) {
    return method == HttpMethod.HEAD ? HttpMethod.GET : method;
  }

  private Duration timeout(Request request, String route) {
    return route.equals(WAIT)
        ? patience.plusSeconds(
            request.query().integer("timeout", USUAL_WAIT_SECONDS, 0, MAX_WAIT_SECONDS))
        : patience;
  }

  // ---- answers

  /** An error that is passed on. */
  private static final class PassedOn extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final transient Answer answer;

    PassedOn(Answer answer) {
      super(null, null, false, false);
      this.answer = answer;
    }
  }

  private interface Merging {
    Response of(List<JsonNode> answers);
  }

  private Response merged(List<Outcome> outcomes, Need need, Merging merging) {
    try {
      return merging.of(answers(outcomes, need));
    } catch (PassedOn error) {
      return error.answer.passedOn();
    } catch (JacksonException | DateTimeException e) {
      throw malformed("a shard does not answer as it should: " + e.getMessage());
    }
  }

  private static HttpProblem malformed(String why) {
    return new HttpProblem(502, why).withHeader("Retry-After", "1");
  }

  /**
   * The answers of those that have one.
   *
   * @throws PassedOn if the client is told what one of them says
   * @throws HttpProblem if a shard that is needed does not answer
   */
  private List<JsonNode> answers(List<Outcome> outcomes, Need need) {
    List<JsonNode> good = new ArrayList<>();
    Answer refusal = null;
    HttpProblem problem = null;
    for (int shard = 0; shard < outcomes.size(); shard++) {
      switch (outcomes.get(shard)) {
        case Answer answer when answer.isGood() -> good.add(json(shard, answer));
        case Answer answer -> refusal = refusal == null ? answer : refusal;
        case Failure failure -> problem = problem == null ? failure.problem() : problem;
      }
    }
    if (refusal != null && (need == Need.EVERY || (good.isEmpty() && problem == null))) {
      throw new PassedOn(refusal);
    }
    if (problem != null && (need != Need.ONE || good.isEmpty())) {
      throw problem;
    }
    return good;
  }

  private JsonNode json(int shard, Answer answer) {
    try {
      return answer.json();
    } catch (JacksonException e) {
      throw shards
          .leaders()
          .named(malformed("shard %d does not answer with JSON".formatted(shard)), shard);
    }
  }

  // ---- requests that are not the same for each shard

  /** The target of a request with other parameters; null for one that is left out. */
  static String target(String path, Query query, Map<String, String> changed, Set<String> without) {
    List<String> parameters = new ArrayList<>();
    for (String name : query.names()) {
      if (!changed.containsKey(name) && !without.contains(name)) {
        query.texts(name).forEach(value -> parameters.add(encoded(name) + "=" + encoded(value)));
      }
    }
    changed.forEach((name, value) -> parameters.add(encoded(name) + "=" + encoded(value)));
    return parameters.isEmpty() ? path : path + "?" + String.join("&", parameters);
  }

  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** The target of a request that names an execution node, with its name if it has an id. */
  private String named(Request request, Round round) throws InterruptedException {
    if (!request.path().startsWith(NODES_BELOW)) {
      String node = request.query().text("node").orElse("");
      return ObjectId.isValid(node)
          ? target(request.path(), request.query(), Map.of("node", nodeName(node, round)), Set.of())
          : request.target();
    }
    String node = request.parameter("node");
    return ObjectId.isValid(node)
        ? target(NODES_BELOW + encoded(nodeName(node, round)), request.query(), Map.of(), Set.of())
        : request.target();
  }

  /** The name of the node with this id, which only one shard knows; the id if none does. */
  private String nodeName(String id, Round round) throws InterruptedException {
    List<Outcome> outcomes = round.all(HttpMethod.GET, NODES_BELOW + id, NO_BODY);
    for (int shard = 0; shard < outcomes.size(); shard++) {
      switch (outcomes.get(shard)) {
        case Answer answer when answer.isGood() -> {
          return json(shard, answer).path("node").asString(id);
        }
        case Answer _ -> {}
        case Failure failure -> throw failure.problem();
      }
    }
    return id;
  }

  /** The target of a list of jobs after one, with its GUID if it has a key. */
  private String afterJob(Request request, Round round) throws InterruptedException {
    String after = request.query().text("after").orElse(null);
    if (after == null || JobId.parse(after).isPresent()) {
      return request.target();
    }
    List<Outcome> outcomes = round.all(HttpMethod.GET, "/api/jobs/" + encoded(after), NO_BODY);
    Set<String> ids = new HashSet<>();
    for (int shard = 0; shard < outcomes.size(); shard++) {
      switch (outcomes.get(shard)) {
        case Answer answer when answer.isGood() ->
            ids.add(json(shard, answer).path("id").asString(""));
        case Answer _ -> {}
        case Failure failure -> throw failure.problem();
      }
    }
    if (ids.size() > 1) {
      throw MergedLists.nameOne(
          "%d shards have a job with the key %s".formatted(ids.size(), after));
    }
    return ids.isEmpty()
        ? request.target()
        : target(request.path(), request.query(), Map.of("after", ids.iterator().next()), Set.of());
  }

  private Response search(Request request, Round round, boolean old)
      throws IOException, InterruptedException {
    byte[] body = request.hasBody() ? request.jsonBody() : NO_BODY;
    MergedSearch search;
    try {
      search = MergedSearch.of(Input.of(request, body), old);
    } catch (HttpProblem _) {
      search = null;
    }
    try {
      if (search == null) {
        // Each shard says what is wrong with it.
        List<JsonNode> _ = found(round.all(HttpMethod.POST, request.target(), body));
        throw MergedLists.nameOne("this search cannot be read");
      }
      JsonNode answer =
          search.answer(
              page -> found(round.all(HttpMethod.POST, request.path(), Json.bytes(page))));
      return search.isPretty()
          ? Response.json(Json.MAPPER.writerWithDefaultPrettyPrinter().writeValueAsBytes(answer))
          : Json.response(answer);
    } catch (PassedOn error) {
      return error.answer.passedOn();
    } catch (JacksonException e) {
      throw malformed("a shard does not answer as it should: " + e.getMessage());
    }
  }

  /** What shards have found. In version 3, an error begins with 0, and may have the status 200. */
  private List<JsonNode> found(List<Outcome> outcomes) {
    List<JsonNode> answers = answers(outcomes, Need.EVERY);
    for (int i = 0; i < answers.size(); i++) {
      JsonNode first = answers.get(i).path(0);
      if (first.isNumber() && first.asInt() == 0 && outcomes.get(i) instanceof Answer answer) {
        throw new PassedOn(answer);
      }
    }
    return answers;
  }

  // ---- nodes of graphs

  /**
   * The nodes of the graphs of all shards, those of the first shard first. If they have several
   * pages, the first ends with the first page of a shard that has more, and those after it are of
   * one shard each.
   */
  private Response nodes(Request request, Round round) throws InterruptedException {
    Query query = request.query();
    if (query.text("new").isPresent()) {
      throw MergedLists.nameOne("ids of nodes do not tell which of several shards has newer ones");
    }
    String start = query.text("start").orElse("");
    if (start.isEmpty()) {
      return merged(
          round.all(HttpMethod.GET, request.target(), NO_BODY),
          Need.EVERY,
          answers -> Json.response(NodePages.first(answers, query.text("start").isPresent())));
    }
    NodePages.Place place = NodePages.Place.of(start, shards.leaders().count());
    Map<String, String> changed =
        place.view().isEmpty()
            ? Map.of("start", place.start())
            : Map.of("start", place.start(), "pid", place.view());
    String target = target(request.path(), query, changed, Set.of("pid", "pagid"));
    return merged(
        round.some(List.of(place.shard()), HttpMethod.GET, target, NO_BODY),
        Need.EVERY,
        answers ->
            Json.response(NodePages.next(place, answers.getFirst(), shards.leaders().count())));
  }

  // ---- changes

  private Response change(Request request, Round round, HttpMethod method, String route)
      throws IOException, InterruptedException {
    byte[] body = request.hasBody() ? request.jsonBody() : NO_BODY;
    if (route.equals(CHANGE_CONFIG)
        && request.hasBody()
        && ObjectId.isValid(Input.of(request, body).all().path("node").asString(""))) {
      throw HttpProblem.malformed("name the node by its name: only one shard knows its id");
    }
    List<Outcome> outcomes = round.all(method, named(request, round), body);
    List<Integer> changed = new ArrayList<>();
    List<Integer> unchanged = new ArrayList<>();
    List<Integer> unknown = new ArrayList<>();
    JsonNode result = null;
    Answer refusal = null;
    Answer absent = null;
    String why = "";
    int status = 503;
    for (int shard = 0; shard < outcomes.size(); shard++) {
      switch (outcomes.get(shard)) {
        case Answer answer when answer.isGood() -> {
          changed.add(shard);
          JsonNode said = json(shard, answer);
          result = result == null || isModified(said) ? said : result;
        }
        case Answer answer when route.equals(DELETE_NODE) && error(answer).equals(NO_NODE) ->
            absent = answer;
        case Answer answer -> {
          unchanged.add(shard);
          refusal = refusal == null ? answer : refusal;
          status = answer.status();
          why = "shard %d: %s".formatted(shard, error(answer));
        }
        case Failure failure -> {
          (failure.isReached() ? unknown : unchanged).add(shard);
          status = 503;
          why = failure.problem().message();
        }
      }
    }
    boolean isMade = unknown.isEmpty() && unchanged.isEmpty();
    if (isMade && result != null) {
      return Json.response(result);
    }
    if (isMade && absent != null) {
      return absent.passedOn();
    }
    if (refusal != null && outcomes.stream().allMatch(AllShards::isRefusal)) {
      return refusal.passedOn();
    }
    ObjectNode error = Json.object().put("error", why + "; make the change again");
    changed.forEach(error.putArray("changed")::add);
    unchanged.forEach(error.putArray("unchanged")::add);
    unknown.forEach(error.putArray("unknown")::add);
    return Json.response(status, status == 503 ? Map.of("Retry-After", "1") : Map.of(), error);
  }

  private static boolean isRefusal(Outcome outcome) {
    return outcome instanceof Answer answer && !answer.isGood();
  }

  private static boolean isModified(JsonNode result) {
    return result.path("MongoDB::UpdateResult").path("modified_count").asInt(0) > 0;
  }

  private static String error(Answer answer) {
    try {
      return answer.json().path("error").asString("");
    } catch (JacksonException _) {
      return "";
    }
  }
}
