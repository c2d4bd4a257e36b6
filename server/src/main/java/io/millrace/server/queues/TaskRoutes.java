package io.millrace.server.queues;

import io.millrace.http.Caller.Reach.Area;
import io.millrace.http.Caller.Role;
import io.millrace.http.Request;
import io.millrace.http.json.Json;
import io.millrace.http.message.Query;
import io.millrace.http.message.Response;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueBackend.Submitted;
import io.millrace.queues.QueueBackend.Terms;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.Status;
import io.millrace.queues.search.Projection;
import io.millrace.queues.search.TaskFinder.Found;
import io.millrace.server.queues.Results.InsertedForm;
import io.millrace.server.queues.Shapes.Times;
import io.millrace.server.traces.Traces;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.TimeText;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

/** Creates tasks, shows one, and operates on it. */
record TaskRoutes(
    QueueBackend.Submission submission,
    KnownTasks known,
    QueueRoutes queues,
    UserDocuments documents,
    Shapes shapes,
    Traces traces) {
  private static final String STATUS = "status";

  /** The parameters of the query that say how tasks are created. */
  private static final Set<String> TERMS =
      Stream.concat(Stream.of(STATUS, "delay", "at"), Policy.Field.keysOfWork().stream())
          .collect(Collectors.toUnmodifiableSet());

  private static final Set<String> FROM_DOCUMENTS = Set.of("filter", "params");
  private static final Set<String> REASON = Set.of("reason");
  private static final String BOTH_OBJECTS =
      "filter and params required and must be name/value objects";

  /** An operation on a task; empty if there is none. */
  private interface Operation {
    Optional<QueueTask> on(ObjectId id, String why);
  }

  /** Adds the route that only reads the store. */
  static void addReadsTo(DciRoutes api, KnownTasks known, Shapes shapes) {
    api.limitable()
        .stale()
        .get(
            "/tasks/id/{id}",
            (request, _) -> show(known.find(request, request.parameter("id")), shapes));
  }

  void addTo(DciRoutes whole) {
    DciRoutes api = whole.limitable();
    api.action("task.submit").postRaw("/tasks/{queue}", this::create, TERMS.toArray(String[]::new));
    api.query(TERMS.toArray(String[]::new))
        .action("task.submit")
        .post(
            "/tasks/{queue}/{collection}",
            FROM_DOCUMENTS,
            (request, input) -> Json.response(createFrom(request, input)));
    addReadsTo(whole, known, shapes);
    DciRoutes operators = api.role(Role.OPERATOR);
    operation(
        operators, "cancel", REASON, (id, why) -> known.tasks().hold(id, Status.CANCELLED, why));
    operation(operators, "block", REASON, (id, why) -> known.tasks().hold(id, Status.BLOCKED, why));
    operation(operators, "terminate", Set.of(), (id, _) -> known.tasks().terminate(id));
    operation(operators, "requeue", Set.of(), (id, _) -> known.tasks().requeue(id));
  }

  private void operation(DciRoutes api, String name, Set<String> params, Operation operation) {
    api.action("task." + name)
        .post(
            "/tasks/id/{id}/" + name,
            params,
            (request, input) -> {
              input.allow(params, "Invalid param");
              String id = request.parameter("id");
              known.checkReach(request, id);
              known.note(request, id);
              return operation
                  .on(KnownTasks.id(id), input.text("reason"))
                  .map(task -> show(new Found(task, false), shapes))
                  .orElseThrow(() -> known.missing(id));
            });
  }

  private static Response show(Found found, Shapes shapes) {
    ObjectNode shown = Shapes.of(found, shapes.full(), Times.MILLIS, Projection.ALL);
    return Json.response(shown.put("id", found.task().id().hex()));
  }

  /** How the tasks of a request are created. */
  private static Terms terms(Request request) {
    Query query = request.query();
    Map<String, String> settings = new HashMap<>();
    for (String name : query.names()) {
      if (Policy.Field.keysOfWork().contains(name)) {
        settings.put(name, String.join(",", query.texts(name)));
      }
    }
    return new Terms(
        (int) query.integer(STATUS, Status.QUEUED, Integer.MIN_VALUE, Integer.MAX_VALUE),
        query.text("delay").map(text -> TimeText.duration("delay", text)).orElse(Duration.ZERO),
        query.text("at").map(text -> TimeText.moment("at", text)).orElse(null),
        settings.isEmpty() ? Policy.NONE : new Policy(settings));
  }

  /** Refuses other names: with a mistyped one, tasks would run that should be held. */
  private static void allowOnlyTerms(Request request) {
    for (String name : request.query().names()) {
      if (!TERMS.contains(name)) {
        throw Refusal.of("Invalid param", "param", name);
      }
    }
  }

  private Response create(Request request) throws IOException {
    allowOnlyTerms(request);
    Terms terms = terms(request);
    byte[] body = request.body();
    TaskArray params = TaskArray.of(Input.isForm(request, body) ? new byte[0] : body);
    Queue queue = queues.find(request, request.parameter("queue"));
    Terms traced = terms.in(traces.begin(request));
    List<Submitted> created = new ArrayList<>();
    try {
      created(created, all -> params.read(part -> submission.submit(queue, part, traced, all)));
    } finally {
      note(request, created);
    }
    return InsertedForm.response(created);
  }

  private ObjectNode createFrom(Request request, Input input) {
    if (request.hasBody()) {
      allowOnlyTerms(request);
      input.allow(FROM_DOCUMENTS, "Invalid param");
    } else {
      Set<String> names = new HashSet<>(TERMS);
      names.addAll(FROM_DOCUMENTS);
      input.allow(names, "Invalid param");
    }
    if (!input.has("filter") || !input.has("params")) {
      throw Refusal.of(BOTH_OBJECTS);
    }
    ObjectNode filter = input.object("filter", BOTH_OBJECTS);
    ObjectNode params = input.object("params", BOTH_OBJECTS);
    Queue queue = queues.find(request, request.parameter("queue"));
    queues.reach(request).checkCollection(request.parameter("collection"));
    List<ObjectNode> each = documents.params(request.parameter("collection"), filter, params);
    return Results.inserted(submit(request, queue, each, terms(request)));
  }

  /** Creates tasks. */
  List<Submitted> submit(Request request, Queue queue, List<ObjectNode> params, Terms terms) {
    if (params.isEmpty()) {
      throw Refusal.of("nothing matches, so no task was created").with(Results.inserted(List.of()));
    }
    Terms traced = terms.in(traces.begin(request));
    List<Submitted> created = new ArrayList<>();
    try {
      created(created, all -> submission.submit(queue, params, traced, all));
    } finally {
      note(request, created);
    }
    return created;
  }

  /** Notes for the audit log which tasks were created. */
  private static void note(Request request, List<Submitted> created) {
    List<String> ids =
        created.stream().filter(task -> !task.duplicate()).map(task -> task.id().hex()).toList();
    request.changed(
        ids.size(), ids.isEmpty() ? null : ids.getFirst(), ids.isEmpty() ? null : ids.getLast());
  }

  /** Creates tasks in parts, and passes on their ids. */
  private interface Creation {
    void run(Consumer<List<Submitted>> created);
  }

  /** Creates tasks; if the store refuses one of many, the earlier ones are part of the error. */
  private static void created(List<Submitted> created, Creation creation) {
    try {
      creation.run(created::addAll);
    } catch (InvalidRequestException e) {
      if (created.isEmpty()) {
        throw e;
      }
      throw Refusal.after(Results.inserted(created), e);
    }
  }

  /** All tasks by id, including archived ones. */
  record KnownTasks(QueueBackend.Tasks tasks, Archived archived, QueueBackend.Definitions queues) {
    /** Finds those of these tasks that are archived. */
    interface Archived {
      Map<ObjectId, QueueTask> find(List<ObjectId> ids);
    }

    private static final String NOT_FOUND = "task not found";

    /** The id in a path. */
    static ObjectId id(String text) {
      return Input.id("id", text, NOT_FOUND);
    }

    /**
     * The task of this id.
     *
     * @throws Refusal if there is none within the reach of the caller
     */
    Found find(Request request, String text) {
      QueueReach reach = QueueReach.of(request, queues);
      return any(text)
          .filter(found -> reach.includes(found.task()))
          .orElseThrow(() -> Refusal.of(NOT_FOUND, "id", text));
    }

    /**
     * Checks a task that is to be changed.
     *
     * @throws Refusal if there is none within the reach of a caller with a limit
     */
    void checkReach(Request request, String text) {
      if (!QueueReach.of(request, queues).isUnlimited()) {
        Found _ = find(request, text);
      }
    }

    /** Notes for the audit log in which queue a task is that is to be changed. */
    void note(Request request, String text) {
      tasks
          .find(id(text))
          .flatMap(task -> queues.find(task.queue().hex()))
          .ifPresent(queue -> request.concerns(Area.QUEUES, queue.name()));
    }

    private Optional<Found> any(String text) {
      ObjectId id = id(text);
      return tasks
          .find(id)
          .map(task -> new Found(task, false))
          .or(() -> inArchive(id).map(task -> new Found(task, true)));
    }

    private Optional<QueueTask> inArchive(ObjectId id) {
      return Optional.ofNullable(archived.find(List.of(id)).get(id));
    }

    /** Why a task that is not in the store cannot be changed. */
    Refusal missing(String text) {
      return inArchive(id(text)).isPresent()
          ? Refusal.of("the task is archived and does not change any more", "id", text)
          : Refusal.of(NOT_FOUND, "id", text);
    }
  }
}
