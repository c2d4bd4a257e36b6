package io.millrace.server.jobs;

import io.millrace.http.ApiRoutes;
import io.millrace.http.PendingWait.Deadline;
import io.millrace.http.Request;
import io.millrace.http.json.Json;
import io.millrace.http.message.Reply;
import io.millrace.jobs.Batch;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.registry.Jobs;
import io.millrace.work.Watch;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/** Waits for the end of jobs in one request. */
record WaitRoutes(Jobs jobs, Lookup lookup, Shapes shapes) {
  private static final int MOST_SECONDS = 600;
  private static final int USUAL_SECONDS = 30;

  void addTo(ApiRoutes api) {
    api.query("timeout")
        .get("/jobs/{key}/wait", this::job)
        .get("/batches/{batch}/wait", this::batch);
  }

  private Reply job(Request request) throws InterruptedException {
    Job job = lookup.job(request);
    await(request, List.of(job.id()));
    Job now = jobs.registry().find(job.id().toString()).orElse(null);
    if (now == null) {
      throw Lookup.noJob(request.parameter("key"));
    }
    return Json.reply(shapes.of(now));
  }

  private Reply batch(Request request) throws InterruptedException {
    Batch batch = lookup.batch(request);
    JobRegistry registry = jobs.registry();
    await(request, registry.jobsOf(batch).stream().map(Job::id).toList());
    return Json.reply(BatchRoutes.counted(batch, registry));
  }

  private void await(Request request, Collection<JobId> ids) throws InterruptedException {
    long seconds = request.query().integer("timeout", USUAL_SECONDS, 0, MOST_SECONDS);
    try (Watch<JobId, Job> watched = jobs.watch(ids);
        Deadline deadline = new Deadline(request, Duration.ofSeconds(seconds))) {
      Duration step = deadline.step();
      while (watched.pending() > 0 && step.isPositive()) {
        watched.await(step);
        step = deadline.step();
      }
    }
  }
}
