package io.millrace.server.jobs;

import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobRegistry;
import io.millrace.server.http.HttpMethod;
import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.Reply;
import io.millrace.server.http.Request;
import java.io.IOException;
import java.util.Optional;
import java.util.function.Function;
import tools.jackson.databind.node.ArrayNode;

/** One job: what it is, its bytes, and what can be done to it. */
final class JobRoutes {
  private final JobRegistry registry;
  private final Lookup lookup;
  private final Shapes shapes;

  JobRoutes(JobRegistry registry, Lookup lookup, Shapes shapes) {
    this.registry = registry;
    this.lookup = lookup;
    this.shapes = shapes;
  }

  void mount(ApiMount mount) {
    mount.forClients(
        HttpMethod.GET, "/jobs/{key}", request -> Json.reply(shapes.of(lookup.job(request))));
    mount.forClients(HttpMethod.GET, "/jobs/{key}/payload", this::payload);
    mount.forClients(HttpMethod.GET, "/jobs/{key}/result", this::result);
    mount.forClients(HttpMethod.GET, "/jobs/{key}/failures", this::failures);
    mount.forClients(HttpMethod.GET, "/jobs/{key}/returns", this::returns);
    mount.forClients(HttpMethod.POST, "/jobs/{key}/delete", this::delete);
    mount.forClients(HttpMethod.DELETE, "/jobs/{key}", this::delete);
    mount.forClients(
        HttpMethod.POST, "/jobs/{key}/cancel", request -> change(request, registry::cancel));
    mount.forClients(
        HttpMethod.POST, "/jobs/{key}/retry", request -> change(request, registry::retry));
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
    Job deleted = registry.delete(key).orElseThrow(() -> Problem.noJob(key));
    return Json.reply(202, Json.object().put("deleted", deleted.key()));
  }

  private Reply change(Request request, Function<String, Optional<Job>> change) {
    String key = request.parameter("key");
    return Json.reply(shapes.of(change.apply(key).orElseThrow(() -> Problem.noJob(key))));
  }
}
