package io.millrace.server.archive;

import io.millrace.archive.Archive;
import io.millrace.archive.ArchiveQuery;
import io.millrace.archive.ArchiveQuery.Condition;
import io.millrace.archive.ArchiveQuery.Condition.AtLeast;
import io.millrace.archive.ArchiveQuery.Condition.LessThan;
import io.millrace.archive.ArchiveQuery.Condition.OneOf;
import io.millrace.archive.ArchiveQuery.Cursor;
import io.millrace.archive.ArchiveRow;
import io.millrace.archive.ArchiveTable;
import io.millrace.archive.ArchiveTable.Column;
import io.millrace.graph.GraphRegistry.DataPage;
import io.millrace.graph.NodeState;
import io.millrace.graph.store.StoredGraph;
import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Reach;
import io.millrace.http.Caller.Reach.Area;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.http.message.Response;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.registry.ArchivedJobs;
import io.millrace.jobs.registry.ArchivedJobs.ArchivedJob;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.registry.QueueRegistry;
import io.millrace.server.jobs.Content;
import io.millrace.server.security.Principals;
import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.TimeText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The routes under {@code /archive}. Rows are shown with the names of their columns. A caller with
 * a limited reach sees tasks of the queues, jobs of the types and nodes of the subtrees that it
 * reaches.
 */
public record ArchiveRoutes(
    Archive archive,
    QueueRegistry queues,
    JobTypes types,
    ArchivedJobs archivedJobs,
    StoredGraph graph) {
  private static final int DEFAULT_LIMIT = 100;
  private static final int MAX_LIMIT = 1_000;

  /** With documents, of which each may have a megabyte. */
  private static final int MAX_FULL_LIMIT = 100;

  private static final int MAX_LISTED = 100;
  private static final int MAX_IDS = 1_000;
  private static final String[] COMMON = {"since", "until", "order", "after", "limit", "full"};

  /** The routes. */
  List<Route> routes() {
    ApiRoutes api = ApiRoutes.below("/archive").errors(ErrorForm.PROBLEM_DETAILS).limitable();
    api.strictQuery(with("queue", "status", "node")).get("/tasks", this::tasks);
    api.get("/tasks/{id}", this::task);
    api.strictQuery(with("key", "type", "status", "priority", "batch", "worker"))
        .get("/jobs", this::jobs);
    api.get("/jobs/{key}", request -> Json.response(full(job(request).row())))
        .get("/jobs/{key}/payload", this::payload)
        .get("/jobs/{key}/result", this::result);
    api.strictQuery(with("graph", "below", "name", "type", "state")).get("/graphs", this::nodes);
    api.get("/graphs/{id}", request -> Json.response(full(node(request))));
    api.strictQuery(Set.of("slot")).get("/graphs/{id}/data/{key}", this::data);
    return api.routes();
  }

  private static Set<String> with(String... more) {
    return Stream.concat(Arrays.stream(COMMON), Arrays.stream(more))
        .collect(Collectors.toUnmodifiableSet());
  }

  private Response tasks(Request request) {
    Query query = request.query();
    List<Condition> conditions = new ArrayList<>();
    query.text("queue").ifPresent(text -> conditions.add(inQueue(text)));
    listed(query, "status")
        .ifPresent(texts ->
            conditions.add(
                new OneOf("status", texts.stream().map(text -> number("status", text)).toList())));
    listed(query, "node").ifPresent(texts -> conditions.add(new OneOf("node", texts)));
    reachedQueues(request).ifPresent(conditions::add);
    return list(ArchiveTable.TASKS, query, conditions);
  }

  /** In the queue of this id or name; the name of a queue that was deleted is the one it had. */
  private Condition inQueue(String idOrName) {
    return queues
        .find(idOrName)
        .map(queue -> new OneOf("queue_id", List.of(queue.id().hex())))
        .orElseGet(
            () -> new OneOf(ObjectId.isValid(idOrName) ? "queue_id" : "queue", List.of(idOrName)));
  }

  /**
   * Empty if the caller reaches every queue. As for live tasks, those of deleted queues count not.
   */
  private Optional<Condition> reachedQueues(Request request) {
    Reach reach = request.caller().reach();
    return reach.coversEverything()
        ? Optional.empty()
        : Optional.of(
            new OneOf(
                "queue_id",
                queues.all().stream()
                    .filter(queue -> reach.includes(Area.QUEUES, queue.name()))
                    .map(queue -> queue.id().hex())
                    .toList()));
  }

  private Response task(Request request) {
    String id = request.parameter("id");
    ArchiveRow row =
        archive
            .find(ArchiveTable.TASKS, id)
            .filter(found -> reaches(request, found))
            .orElseThrow(() -> HttpProblem.notFound("there is no archived task " + id));
    return Json.response(full(row));
  }

  private boolean reaches(Request request, ArchiveRow task) {
    Reach reach = request.caller().reach();
    String queue = task.text("queue_id");
    return reach.coversEverything()
        || queues
            .find(queue == null ? "" : queue)
            .map(Queue::name)
            .filter(name -> reach.includes(Area.QUEUES, name))
            .isPresent();
  }

  private Response jobs(Request request) {
    Query query = request.query();
    List<Condition> conditions = new ArrayList<>();
    listed(query, "key").ifPresent(texts -> conditions.add(new OneOf("job_key", texts)));
    for (String name : List.of("type", "worker")) {
      listed(query, name).ifPresent(texts -> conditions.add(new OneOf(name, texts)));
    }
    word(query, "status", "done", "failed").ifPresent(conditions::add);
    word(query, "priority", "immediate", "batch").ifPresent(conditions::add);
    if (query.text("batch").isPresent()) {
      conditions.add(new OneOf("batch", List.of(query.integer("batch", 0, 1, Long.MAX_VALUE))));
    }
    Reach reach = request.caller().reach();
    if (!reach.coversEverything()) {
      conditions.add(
          new OneOf(
              "type",
              Stream.concat(Stream.of(""), types.all().stream().map(JobType::name))
                  .filter(type -> reach.includes(Area.TYPES, type))
                  .toList()));
    }
    return list(ArchiveTable.JOBS, query, conditions);
  }

  private static Optional<Condition> word(Query query, String name, String... words) {
    Optional<List<String>> given = listed(query, name);
    for (String text : given.orElse(List.of())) {
      if (!List.of(words).contains(text)) {
        throw HttpProblem.malformed(
            "the parameter " + name + " must be " + String.join(" or ", words) + ", not " + text);
      }
    }
    return given.map(texts -> new OneOf(name, texts));
  }

  /** The job of this GUID, or the one with this key that ended last. */
  private ArchivedJob job(Request request) {
    String key = request.parameter("key");
    return archivedJobs
        .find(key)
        .filter(job -> {
          String type = job.row().text("type");
          return request.caller().reach().includes(Area.TYPES, type == null ? "" : type);
        })
        .orElseThrow(() -> HttpProblem.notFound("there is no archived job " + key));
  }

  private Response payload(Request request) throws IOException {
    ArchivedJob job = job(request);
    return Content.response(request, job.payloadBytes(), job::payload);
  }

  private Response result(Request request) throws IOException {
    ArchivedJob job = job(request);
    Long size = job.resultBytes();
    if (size == null) {
      throw HttpProblem.notFound(
          "the job "
              + job.row().text("job_key")
              + " has no result: it is "
              + job.row().text("status"));
    }
    return Content.response(request, size, job::result);
  }

  private Response nodes(Request request) {
    Query query = request.query();
    List<Condition> conditions = new ArrayList<>();
    for (String name : List.of("graph", "name", "type", "state")) {
      listed(query, name).ifPresent(texts -> conditions.add(new OneOf(name, texts)));
    }
    for (String state : listed(query, "state").orElse(List.of())) {
      if (NodeState.of(state).filter(NodeState::isSettled).isEmpty()) {
        throw HttpProblem.malformed(
            "the parameter state names states of nodes that have ended, such as finished or failed,"
                + " not "
                + state);
      }
    }
    ArchivedNodes within = new ArchivedNodes(archive);
    Set<String> wanted = query.text("below").map(within::below).orElse(null);
    Set<String> tops = tops(request);
    if (tops != null) {
      Set<String> reached =
          tops.stream().flatMap(top -> within.below(top).stream()).collect(Collectors.toSet());
      if (wanted != null) {
        reached.retainAll(wanted);
      }
      wanted = reached;
    }
    return list(ArchiveTable.GRAPHS, query, conditions, wanted);
  }

  /** The nodes that the reach of a caller names; null if it has no limit. */
  private static @Nullable Set<String> tops(Request request) {
    Reach reach = request.caller().reach();
    if (reach.includes(Area.GRAPH, "")) {
      return null;
    }
    return reach instanceof Principals.Limited(var limited) ? limited.graph() : Set.of();
  }

  private ArchiveRow node(Request request) {
    String id = request.parameter("id");
    Set<String> tops = tops(request);
    return archive
        .find(ArchiveTable.GRAPHS, id)
        .filter(_ -> tops == null || new ArchivedNodes(archive).isBelow(id, tops))
        .orElseThrow(() -> HttpProblem.notFound("there is no archived node " + id));
  }

  private Response data(Request request) {
    int slot = (int) request.query().integer("slot", 0, 0, Integer.MAX_VALUE);
    DataPage page = graph.data(node(request), request.parameter("key"), slot);
    ObjectNode answer = Json.object();
    answer.set("data", page.data());
    return Json.response(answer.put("slot", page.slot()).put("next", page.next()));
  }

  /** The archived nodes of a graph, by what is above them. */
  private record ArchivedNodes(Archive archive) {
    private static final int PAGE = 10_000;

    /** A node and the nodes below it; none if it is not archived. */
    Set<String> below(String top) {
      Set<String> found = new HashSet<>();
      ArchiveRow row = archive.find(ArchiveTable.GRAPHS, top).orElse(null);
      if (row == null) {
        return found;
      }
      Map<String, List<String>> children = new HashMap<>();
      ArchiveQuery query =
          ArchiveQuery.newest(ArchiveTable.GRAPHS, PAGE)
              .where(new OneOf("graph", List.of(String.valueOf(row.text("graph")))));
      List<ArchiveRow> page;
      do {
        page = archive.list(query, ArchiveTable.ID, ArchiveTable.FINISHED, "parents");
        for (ArchiveRow node : page) {
          parents(node)
              .forEach(parent ->
                  children.computeIfAbsent(parent, _ -> new ArrayList<>()).add(node.id()));
        }
        query = page.isEmpty() ? query : query.after(Cursor.of(page.getLast()));
      } while (page.size() == PAGE);
      Deque<String> left = new ArrayDeque<>(List.of(top));
      for (String id = left.poll(); id != null; id = left.poll()) {
        if (found.add(id)) {
          left.addAll(children.getOrDefault(id, List.of()));
        }
      }
      return found;
    }

    /** Whether a node is one of these, or below one. */
    boolean isBelow(String id, Set<String> tops) {
      return tops.contains(id) || tops.stream().anyMatch(top -> below(top).contains(id));
    }

    private static List<String> parents(ArchiveRow node) {
      String parents = node.text("parents");
      return parents == null
          ? List.of()
          : Json.read(parents.getBytes(StandardCharsets.UTF_8))
              .valueStream()
              .map(JsonNode::asString)
              .toList();
    }
  }

  private Response list(ArchiveTable table, Query query, List<Condition> conditions) {
    return list(table, query, conditions, null);
  }

  /**
   * A page of a list.
   *
   * @param ids only rows with these ids; null for all
   */
  private Response list(
      ArchiveTable table, Query query, List<Condition> conditions, @Nullable Set<String> ids) {
    boolean full = query.bool("full", false);
    int most = full ? MAX_FULL_LIMIT : MAX_LIMIT;
    int limit = (int) query.integer("limit", DEFAULT_LIMIT, 1, most);
    moment(query, "since")
        .ifPresent(
            since -> conditions.add(new AtLeast(ArchiveTable.FINISHED, since.toEpochMilli())));
    moment(query, "until")
        .ifPresent(
            until -> conditions.add(new LessThan(ArchiveTable.FINISHED, until.toEpochMilli())));
    Cursor after =
        query
            .text("after")
            .map(text ->
                Cursor.parse(text)
                    .orElseThrow(() ->
                        HttpProblem.malformed(
                            "the parameter after must be the field next of a response, not "
                                + text)))
            .orElse(null);
    ArchiveQuery asked =
        new ArchiveQuery(table, List.copyOf(conditions), newestFirst(query), after, limit);
    List<ArchiveRow> rows = ids == null ? read(asked, full) : read(asked, full, ids);
    ObjectNode response = Json.object();
    response.set(table.word(), Json.array(rows, full ? ArchiveRoutes::full : ArchiveRoutes::of));
    return Json.response(
        response.put("next", rows.size() == limit ? Cursor.of(rows.getLast()).text() : null));
  }

  private List<ArchiveRow> read(ArchiveQuery query, boolean full) {
    return full ? archive.list(query) : archive.summaries(query);
  }

  /** The first rows with these ids, as many as the query asks for. */
  private List<ArchiveRow> read(ArchiveQuery query, boolean full, Set<String> ids) {
    List<String> all = List.copyOf(ids);
    List<ArchiveRow> found = new ArrayList<>();
    for (int from = 0; from < all.size(); from += MAX_IDS) {
      List<String> some = all.subList(from, Math.min(all.size(), from + MAX_IDS));
      found.addAll(read(query.where(new OneOf(ArchiveTable.ID, some)), full));
      Comparator<ArchiveRow> oldest =
          Comparator.comparingLong(ArchiveRow::finishedMillis).thenComparing(ArchiveRow::id);
      found.sort(query.newestFirst() ? oldest.reversed() : oldest);
      if (found.size() > query.limit()) {
        found.subList(query.limit(), found.size()).clear();
      }
    }
    return found;
  }

  private static boolean newestFirst(Query query) {
    String order = query.text("order").orElse("newest");
    return switch (order) {
      case "newest" -> true;
      case "oldest" -> false;
      default ->
          throw HttpProblem.malformed("the parameter order must be newest or oldest, not " + order);
    };
  }

  private static Optional<Instant> moment(Query query, String name) {
    try {
      return query.text(name).map(text -> TimeText.moment(name, text));
    } catch (PolicyException e) {
      throw HttpProblem.malformed(String.valueOf(e.getMessage()));
    }
  }

  /** The values of a parameter, which may be given several times or be separated by commas. */
  private static Optional<List<String>> listed(Query query, String name) {
    List<String> given = query.texts(name);
    if (given.isEmpty()) {
      return Optional.empty();
    }
    List<String> values =
        given.size() == 1 && !name.equals("key") ? List.of(given.getFirst().split(",", -1)) : given;
    if (values.size() > MAX_LISTED) {
      throw HttpProblem.malformed(
          "the parameter " + name + " names more than " + MAX_LISTED + " values");
    }
    return Optional.of(values);
  }

  private static Long number(String name, String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException _) {
      throw HttpProblem.malformed(
          "the parameter " + name + " must be whole numbers separated by commas, not " + text);
    }
  }

  private static ObjectNode of(ArchiveRow row) {
    ObjectNode shown = Json.object();
    for (Column column : row.table().columns()) {
      String name = column.name();
      switch (column.type()) {
        case TEXT -> shown.put(name, row.text(name));
        case NUMBER -> shown.put(name, row.number(name));
        case TIME -> {
          Long millis = row.number(name);
          shown.put(name, millis == null ? null : Instant.ofEpochMilli(millis).toString());
        }
        case JSON -> {
          String json = name.equals("document") ? null : row.text(name);
          if (json != null) {
            shown.set(name, Json.read(json.getBytes(StandardCharsets.UTF_8)));
          }
        }
        case BYTES -> {}
      }
    }
    return shown;
  }

  private static ObjectNode full(ArchiveRow row) {
    ObjectNode shown = of(row);
    String document = row.text("document");
    if (document != null) {
      shown.set("document", Json.read(document.getBytes(StandardCharsets.UTF_8)));
    }
    return shown;
  }
}
