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
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.NoSuchBlobException;
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
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueRegistry;
import io.millrace.server.jobs.Content;
import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.TimeText;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The routes under {@code /archive}. Rows are shown with the names of their columns. A caller with
 * a limited reach sees tasks of the queues and jobs of the types that it reaches.
 */
record ArchiveRoutes(Archive archive, QueueRegistry queues, JobTypes types, BlobStore blobs) {
  private static final int DEFAULT_LIMIT = 100;
  private static final int MAX_LIMIT = 1_000;

  /** With documents, of which each may have a megabyte. */
  private static final int MAX_FULL_LIMIT = 100;

  private static final int MAX_LISTED = 100;
  private static final String[] COMMON = {"since", "until", "order", "after", "limit", "full"};

  List<Route> routes() {
    ApiRoutes api = ApiRoutes.below("/archive").errors(ErrorForm.PROBLEM_DETAILS).limitable();
    api.strictQuery(with("queue", "status", "node")).get("/tasks", this::tasks);
    api.get("/tasks/{id}", this::task);
    api.strictQuery(with("key", "type", "status", "priority", "batch", "worker"))
        .get("/jobs", this::jobs);
    api.get("/jobs/{key}", request -> Json.response(full(job(request))))
        .get("/jobs/{key}/payload", this::payload)
        .get("/jobs/{key}/result", this::result);
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
  private ArchiveRow job(Request request) {
    String key = request.parameter("key");
    return archive
        .find(ArchiveTable.JOBS, key)
        .or(() -> archive.find(ArchiveTable.JOBS, "job_key", key))
        .filter(row -> {
          String type = row.text("type");
          return request.caller().reach().includes(Area.TYPES, type == null ? "" : type);
        })
        .orElseThrow(() -> HttpProblem.notFound("there is no archived job " + key));
  }

  private Response payload(Request request) throws IOException {
    ArchiveRow job = job(request);
    Long size = job.number("payload_bytes");
    return Content.response(
        request,
        size == null ? 0 : size,
        () -> open(job.bytes("payload"), job.id() + JobRegistry.PAYLOAD_SUFFIX));
  }

  private Response result(Request request) throws IOException {
    ArchiveRow job = job(request);
    Long size = job.number("result_bytes");
    if (size == null) {
      throw HttpProblem.notFound(
          "the job " + job.text("job_key") + " has no result: it is " + job.text("status"));
    }
    return Content.response(
        request, size, () -> open(job.bytes("result"), job.text("result_blob")));
  }

  private @Nullable InputStream open(byte @Nullable [] bytes, @Nullable String blob) {
    if (bytes != null || blob == null) {
      return new ByteArrayInputStream(bytes == null ? new byte[0] : bytes);
    }
    try {
      return blobs.open(blob);
    } catch (NoSuchBlobException _) {
      return null;
    }
  }

  private Response list(ArchiveTable table, Query query, List<Condition> conditions) {
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
    List<ArchiveRow> rows = full ? archive.list(asked) : archive.summaries(asked);
    ObjectNode response = Json.object();
    response.set(table.word(), Json.array(rows, full ? ArchiveRoutes::full : ArchiveRoutes::of));
    return Json.response(
        response.put("next", rows.size() == limit ? Cursor.of(rows.getLast()).text() : null));
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
        case BYTES, JSON -> {}
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
