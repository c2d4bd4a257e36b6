package io.millrace.server.jobs;

import io.millrace.jobs.Job;
import io.millrace.jobs.JobFilter;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.server.http.HttpMethod;
import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.Query;
import io.millrace.server.http.Reply;
import io.millrace.server.http.Request;
import java.io.OutputStream;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** The list of jobs: a bare array, written page by page. */
final class ListRoute {
  private static final int PAGE = 500;

  private final JobRegistry registry;
  private final Shapes shapes;

  ListRoute(JobRegistry registry, Shapes shapes) {
    this.registry = registry;
    this.shapes = shapes;
  }

  void mount(ApiMount mount) {
    mount.forClients(HttpMethod.GET, "/jobs", this::list);
  }

  private Reply list(Request request) {
    Query query = request.query();
    long limit = query.integer("limit", 0, 0, Integer.MAX_VALUE);
    JobFilter filter = Filters.of(query);
    long most = limit == 0 ? Long.MAX_VALUE : limit;
    List<Job> first = registry.list(filter, after(query), (int) Math.min(PAGE, most));
    return Reply.streamed(Reply.JSON, target -> write(filter, first, most, target));
  }

  private void write(JobFilter filter, List<Job> first, long most, OutputStream target) {
    try (JsonGenerator json = Json.MAPPER.createGenerator(target)) {
      json.writeStartArray();
      List<Job> page = first;
      long left = most;
      while (!page.isEmpty()) {
        for (Job job : page) {
          Json.MAPPER.writeTree(json, shapes.of(job));
        }
        left -= page.size();
        page =
            left == 0
                ? List.of()
                : registry.list(filter, page.getLast().id(), (int) Math.min(PAGE, left));
      }
      json.writeEndArray();
    }
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
}
