package io.millrace.server.jobs;

import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller;
import io.millrace.http.Caller.Role;
import io.millrace.http.PendingWait.Deadline;
import io.millrace.http.Request;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.http.message.Response;
import io.millrace.jobs.Batch;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobRegistry.JobFilter;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.Priority;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.registry.Jobs;
import io.millrace.server.blobs.BlobApi;
import io.millrace.store.TaskStore.DocumentQuery.Order;
import io.millrace.work.Watch;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.node.ObjectNode;

/**
 * Jobs and their batches: lists, single ones, their bytes, waiting for their end, and operations.
 */
record JobRoutes(Jobs jobs, JobRegistry registry, Shapes shapes) {
  private static final int MAX_BATCHES = 10_000;
  private static final int USUAL_BATCHES = 1_000;
  private static final int MAX_SECONDS = 600;
  private static final int USUAL_SECONDS = 30;

  /** Adds those that only read the store and the blobs. */
  void addReadsTo(ApiRoutes all) {
    ApiRoutes api = all.limitable().stale();
    api.query("type", "status", "priority", "batch", "worker", "text", "limit", "after", "order")
        .get("/jobs", this::list);
    api.get("/jobs/{key}", request -> Json.response(shapes.of(job(request))))
        .get("/jobs/{key}/failures", this::failures)
        .get("/jobs/{key}/returns", this::returns);
    api.query("link")
        .get("/jobs/{key}/payload", this::payload)
        .get("/jobs/{key}/result", this::result);
    api.query("type", "full", "limit", "after", "order").get("/batches", this::batches);
    api.get("/batches/{batch}", request -> Json.response(counted(batch(request))))
        .get("/batches/{batch}/jobs", request -> jobs(batch(request)).response(shapes));
  }

  void addTo(ApiRoutes all) {
    addReadsTo(all);
    ApiRoutes api = all.limitable();
    api.role(Role.OPERATOR)
        .action("job.delete")
        .post("/jobs/{key}/delete", this::delete)
        .delete("/jobs/{key}", this::delete)
        .action("job.cancel")
        .post("/jobs/{key}/cancel", request -> change(request, registry::cancel))
        .action("job.retry")
        .post("/jobs/{key}/retry", request -> change(request, registry::retry));
    api.query("timeout").get("/jobs/{key}/wait", this::awaitJob);
    api.query("timeout").get("/batches/{batch}/wait", this::awaitBatch);
  }

  private Response list(Request request) {
    Query query = request.query();
    long limit = query.integer("limit", 0, 0, Integer.MAX_VALUE);
    JobFilter filter = filter(query);
    long most = limit == 0 ? Long.MAX_VALUE : limit;
    return new JobPages(registry, filter, reached(request), after(query), most, order(query))
        .response(shapes);
  }

  private static Order order(Query query) {
    return switch (query.text("order").orElse("oldest")) {
      case "oldest" -> Order.ASCENDING;
      case "newest" -> Order.DESCENDING;
      default -> throw HttpProblem.malformed("the parameter order is oldest or newest");
    };
  }

  /** Which jobs are within the reach of the caller. */
  static Predicate<Job> reached(Request request) {
    Caller.Reach reach = request.caller().reach();
    return reach.coversEverything()
        ? _ -> true
        : job -> reach.includes(Caller.Reach.Area.TYPES, job.type());
  }

  private @Nullable JobId after(Query query) {
    String given = query.text("after").orElse(null);
    if (given == null) {
      return null;
    }
    return JobId.parse(given)
        .or(() -> registry.find(given).map(Job::id))
        .orElseThrow(() -> HttpProblem.malformed("the parameter after names no job: " + given));
  }

  private Response payload(Request request) throws IOException {
    Job job = job(request);
    Response link = BlobApi.link(request, () -> registry.payloadLink(job));
    return link != null
        ? link
        : Content.response(
            request, job.content().payload(), () -> registry.payload(job).orElse(null));
  }

  private Response result(Request request) throws IOException {
    Job job = job(request);
    Long size = job.content().result();
    if (size == null) {
      throw HttpProblem.notFound(
          "the job " + job.key() + " has no result: it is " + job.status().word());
    }
    Response link = BlobApi.link(request, () -> registry.resultLink(job));
    return link != null
        ? link
        : Content.response(request, size, () -> registry.result(job).orElse(null));
  }

  private Response failures(Request request) {
    return Json.response(Json.array(registry.failures(job(request).id()), Shapes::of));
  }

  private Response returns(Request request) {
    return Json.response(Json.array(registry.returns(job(request).id()), Shapes::returned));
  }

  private Response delete(Request request) {
    String key = request.parameter("key");
    Job _ = job(request);
    Job deleted = registry.delete(key).orElseThrow(() -> noJob(key));
    return Json.response(202, Json.object().put("deleted", deleted.key()));
  }

  private Response change(Request request, Function<String, Optional<Job>> change) {
    String key = request.parameter("key");
    Job _ = job(request);
    return Json.response(shapes.of(change.apply(key).orElseThrow(() -> noJob(key))));
  }

  private Response batches(Request request) {
    Query query = request.query();
    long after = query.integer("after", 0, 0, Long.MAX_VALUE);
    int limit = (int) query.integer("limit", USUAL_BATCHES, 1, MAX_BATCHES);
    Order order = order(query);
    Predicate<Batch> wanted = batch -> Types.reaches(request, batch.type());
    String type = query.text("type").orElse("");
    if (!type.isEmpty()) {
      wanted = wanted.and(batch -> batch.type().equals(type));
    }
    if (query.text("full").isPresent()) {
      boolean full = query.bool("full", true);
      wanted = wanted.and(batch -> batch.isFull() == full);
    }
    List<Batch> found = new ArrayList<>();
    List<Batch> page;
    do {
      page = registry.batches(after, limit, order);
      page.stream().filter(wanted).limit(limit - (long) found.size()).forEach(found::add);
      after = page.isEmpty() ? after : page.getLast().id();
    } while (found.size() < limit && page.size() == limit);
    return Json.response(Json.array(found, Shapes::of));
  }

  private JobPages jobs(Batch batch) {
    JobFilter members = new JobFilter(null, null, null, batch.id(), null);
    return new JobPages(registry, members, _ -> true, null, Long.MAX_VALUE, Order.ASCENDING);
  }

  /** A batch with the number of its jobs in each status. */
  private ObjectNode counted(Batch batch) {
    Map<JobStatus, Long> counts = new EnumMap<>(JobStatus.class);
    jobs(batch).each(job -> counts.merge(job.status(), 1L, Long::sum));
    ObjectNode json = Shapes.of(batch);
    ObjectNode shown = json.putObject("jobs");
    for (JobStatus status : JobStatus.values()) {
      shown.put(status.word(), counts.getOrDefault(status, 0L));
    }
    return json;
  }

  private Response awaitJob(Request request) throws InterruptedException {
    Job job = job(request);
    await(request, List.of(job.id()));
    Job now = registry.find(job.id().toString()).orElse(null);
    if (now == null) {
      throw noJob(request.parameter("key"));
    }
    return Json.response(shapes.of(now));
  }

  private Response awaitBatch(Request request) throws InterruptedException {
    Batch batch = batch(request);
    await(request, registry.jobsOf(batch).stream().map(Job::id).toList());
    return Json.response(counted(batch));
  }

  private void await(Request request, Collection<JobId> ids) throws InterruptedException {
    long seconds = request.query().integer("timeout", USUAL_SECONDS, 0, MAX_SECONDS);
    try (Watch<JobId, Job> watched = jobs.watch(ids);
        Deadline deadline = new Deadline(request, Duration.ofSeconds(seconds))) {
      Duration step = deadline.step();
      while (watched.pending() > 0 && step.isPositive()) {
        watched.await(step);
        step = deadline.step();
      }
    }
  }

  /**
   * The job of {@code {key}}: a key or a GUID. One out of reach of the caller is as if it were not
   * there.
   *
   * @throws HttpProblem 404 if there is none
   */
  private Job job(Request request) {
    String key = request.parameter("key");
    Job job = registry.find(key).filter(reached(request)).orElseThrow(() -> noJob(key));
    request.concerns(Caller.Reach.Area.TYPES, job.type());
    request.changed(1, job.id().toString(), job.id().toString());
    return job;
  }

  /**
   * The batch of {@code {batch}}. All of its jobs have one type; if that is out of reach of the
   * caller, it is as if it were not there.
   *
   * @throws HttpProblem 404 if there is none
   */
  private Batch batch(Request request) {
    String text = request.parameter("batch");
    try {
      return registry
          .batch(Long.parseLong(text))
          .filter(batch -> Types.reaches(request, batch.type()))
          .orElseThrow(() -> noBatch(text));
    } catch (NumberFormatException _) {
      throw noBatch(text);
    }
  }

  /** There is no such job: 404. */
  private static HttpProblem noJob(String keyOrId) {
    return HttpProblem.notFound("there is no job " + keyOrId);
  }

  private static HttpProblem noBatch(String text) {
    return HttpProblem.notFound("there is no batch " + text);
  }

  /**
   * The parameters {@code type}, {@code status}, {@code priority}, {@code batch}, {@code worker}
   * and {@code text}.
   *
   * @throws HttpProblem 400 if one is wrong
   */
  static JobFilter filter(Query query) {
    return new JobFilter(
        query.text("type").orElse(null),
        word(query, "status", JobStatus::named, "pending, running, done or failed"),
        word(query, "priority", Priority::named, "immediate or batch"),
        query.text("batch").isPresent() ? query.integer("batch", 0, 1, Long.MAX_VALUE) : null,
        query.text("worker").map(WorkerId::new).orElse(null),
        query.text("text").filter(text -> !text.isEmpty()).orElse(null));
  }

  private static <T> @Nullable T word(
      Query query, String name, Function<String, Optional<T>> reader, String words) {
    String given = query.text(name).orElse(null);
    if (given == null) {
      return null;
    }
    return reader
        .apply(given)
        .orElseThrow(() ->
            HttpProblem.malformed(
                "the parameter " + name + " must be " + words + ", not " + given));
  }

  /**
   * Listed jobs, read page by page while they are used, however many there are. The first page is
   * read at once, so that its failures can still be answered. For use once, by one thread.
   */
  private static final class JobPages {
    private static final int PAGE = 500;

    private final JobRegistry registry;
    private final JobFilter filter;
    private final Order order;
    private final Predicate<Job> reached;
    private long left;
    private List<Job> page;
    private @Nullable JobId read;
    private boolean last;

    /**
     * The jobs that match a filter.
     *
     * @param reached which of them are shown
     * @param after the GUID of the last one that is known already; null to begin with the first
     * @param most the maximum number, from 1
     * @param order their order
     */
    JobPages(
        JobRegistry registry,
        JobFilter filter,
        Predicate<Job> reached,
        @Nullable JobId after,
        long most,
        Order order) {
      this.registry = registry;
      this.order = order;
      this.filter = filter;
      this.reached = reached;
      this.left = most;
      this.page = List.of();
      read(after);
    }

    private void read(@Nullable JobId after) {
      int asked = (int) Math.min(PAGE, left);
      List<Job> listed = registry.list(filter, after, asked, order);
      page = listed.stream().filter(reached).toList();
      left -= page.size();
      last = listed.size() < asked || left == 0;
      read = listed.isEmpty() ? after : listed.getLast().id();
    }

    /** Passes each to {@code look}. */
    void each(Consumer<Job> look) {
      page.forEach(look);
      while (!last) {
        read(read);
        page.forEach(look);
      }
    }

    /** An array of them, written while they are read. */
    Response response(Shapes shapes) {
      return Response.streamed(
          Response.JSON,
          target -> {
            try (JsonGenerator json = Json.MAPPER.createGenerator(target)) {
              json.writeStartArray();
              each(job -> Json.MAPPER.writeTree(json, shapes.of(job)));
              json.writeEndArray();
            }
          });
    }
  }
}
