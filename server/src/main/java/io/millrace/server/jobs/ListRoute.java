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
import org.jspecify.annotations.Nullable;

/** The list of jobs: a bare array, written page by page. */
final class ListRoute {
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
}
