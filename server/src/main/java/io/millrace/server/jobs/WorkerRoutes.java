package io.millrace.server.jobs;

import io.millrace.http.ApiRoutes;
import io.millrace.http.Request;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Reply;
import io.millrace.jobs.worker.WorkerView;
import io.millrace.jobs.worker.Workers;

/** The list of workers. */
record WorkerRoutes(Workers workers) {
  void addTo(ApiRoutes api) {
    api.get("/workers", _ -> list()).get("/workers/{id}", this::one);
  }

  private Reply list() {
    return Json.reply(Json.array(workers.list(), Shapes::of));
  }

  private Reply one(Request request) {
    String id = request.parameter("id");
    WorkerView worker =
        workers.find(id).orElseThrow(() -> HttpProblem.notFound("there is no worker " + id));
    return Json.reply(Shapes.of(worker));
  }
}
