package io.millrace.server.jobs;

import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Role;
import io.millrace.http.Request;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.http.message.Reply;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobRegistry.JobFilter;
import java.io.IOException;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;

/** The list of jobs; one job: what it is, its bytes, and what can be done to it. */
record JobRoutes(JobRegistry registry, Lookup lookup, Shapes shapes) {
  void addTo(ApiRoutes api) {
    api.query("type", "status", "priority", "batch", "worker", "limit", "after")
        .get("/jobs", this::list);
    api.get("/jobs/{key}", request -> Json.reply(shapes.of(lookup.job(request))))
        .get("/jobs/{key}/payload", this::payload)
        .get("/jobs/{key}/result", this::result)
        .get("/jobs/{key}/failures", this::failures)
        .get("/jobs/{key}/returns", this::returns);
    api.role(Role.OPERATOR)
        .post("/jobs/{key}/delete", this::delete)
        .delete("/jobs/{key}", this::delete)
        .post("/jobs/{key}/cancel", request -> change(request, registry::cancel))
        .post("/jobs/{key}/retry", request -> change(request, registry::retry));
  }

  private Reply list(Request request) {
    Query query = request.query();
    long limit = query.integer("limit", 0, 0, Integer.MAX_VALUE);
    JobFilter filter = Filters.of(query);
    long most = limit == 0 ? Long.MAX_VALUE : limit;
    return new JobPages(registry, filter, after(query), most).reply(shapes);
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

  private Reply payload(Request request) throws IOException {
    Job job = lookup.job(request);
    return Content.reply(
        request, job.content().payload(), () -> registry.payload(job).orElse(null));
  }

  private Reply result(Request request) throws IOException {
    Job job = lookup.job(request);
    Long size = job.content().result();
    if (size == null) {
      throw HttpProblem.notFound(
          "the job " + job.key() + " has no result: it is " + job.status().word());
    }
    return Content.reply(request, size, () -> registry.result(job).orElse(null));
  }

  private Reply failures(Request request) {
    ArrayNode shown = Json.array();
    for (Failure failure : registry.failures(lookup.job(request).id())) {
      shown.add(Shapes.of(failure));
    }
    return Json.reply(shown);
  }

  private Reply returns(Request request) {
    ArrayNode shown = Json.array();
    for (Failure attempt : registry.returns(lookup.job(request).id())) {
      shown.add(Shapes.returned(attempt));
    }
    return Json.reply(shown);
  }

  private Reply delete(Request request) {
    String key = request.parameter("key");
    Job deleted = registry.delete(key).orElseThrow(() -> Lookup.noJob(key));
    return Json.reply(202, Json.object().put("deleted", deleted.key()));
  }

  private Reply change(Request request, Function<String, Optional<Job>> change) {
    String key = request.parameter("key");
    return Json.reply(shapes.of(change.apply(key).orElseThrow(() -> Lookup.noJob(key))));
  }
}
