package io.millrace.server.jobs;

import io.millrace.http.ApiRoutes;
import io.millrace.http.Request;
import io.millrace.http.json.Json;
import io.millrace.http.message.Reply;
import io.millrace.jobs.Batch;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobRegistry.JobFilter;
import io.millrace.jobs.JobStatus;
import java.util.EnumMap;
import java.util.Map;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The batches. */
record BatchRoutes(JobRegistry registry, Lookup lookup, Shapes shapes) {
  private static final int MOST = 10_000;
  private static final int USUAL = 1_000;

  void addTo(ApiRoutes api) {
    api.query("limit", "after").get("/batches", this::list);
    api.get("/batches/{batch}", request -> Json.reply(counted(lookup.batch(request), registry)))
        .get(
            "/batches/{batch}/jobs",
            request -> jobs(lookup.batch(request), registry).reply(shapes));
  }

  private Reply list(Request request) {
    long after = request.query().integer("after", 0, 0, Long.MAX_VALUE);
    int limit = (int) request.query().integer("limit", USUAL, 1, MOST);
    ArrayNode shown = Json.array();
    for (Batch batch : registry.batches(after, limit)) {
      shown.add(Shapes.of(batch));
    }
    return Json.reply(shown);
  }

  private static JobPages jobs(Batch batch, JobRegistry registry) {
    JobFilter members = new JobFilter(null, null, null, batch.id(), null);
    return new JobPages(registry, members, null, Long.MAX_VALUE);
  }

  /** A batch with how many of its jobs are where. */
  static ObjectNode counted(Batch batch, JobRegistry registry) {
    Map<JobStatus, Long> counts = new EnumMap<>(JobStatus.class);
    jobs(batch, registry).each(job -> counts.merge(job.status(), 1L, Long::sum));
    ObjectNode json = Shapes.of(batch);
    ObjectNode shown = json.putObject("jobs");
    for (JobStatus status : JobStatus.values()) {
      shown.put(status.word(), counts.getOrDefault(status, 0L));
    }
    return json;
  }
}
