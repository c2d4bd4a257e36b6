package io.millrace.server.jobs;

import io.millrace.http.json.Json;
import io.millrace.http.message.Reply;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobRegistry.JobFilter;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * Listed jobs, read page by page while they are used, however many there are. The first page is
 * read at once, so that what goes wrong there can still be answered. For use once, by one thread.
 */
final class JobPages {
  private static final int PAGE = 500;

  private final JobRegistry registry;
  private final JobFilter filter;
  private long left;
  private List<Job> page;
  private boolean last;

  /**
   * The jobs that a filter lets through.
   *
   * @param after the GUID of the last one known already; null from the first
   * @param most how many at most, from 1
   */
  JobPages(JobRegistry registry, JobFilter filter, @Nullable JobId after, long most) {
    this.registry = registry;
    this.filter = filter;
    this.left = most;
    this.page = List.of();
    read(after);
  }

  private void read(@Nullable JobId after) {
    int asked = (int) Math.min(PAGE, left);
    page = registry.list(filter, after, asked);
    left -= page.size();
    last = page.size() < asked || left == 0;
  }

  /** Gives each to {@code look}. */
  void each(Consumer<Job> look) {
    page.forEach(look);
    while (!last) {
      read(page.getLast().id());
      page.forEach(look);
    }
  }

  /** A bare array of them, written while they are read. */
  Reply reply(Shapes shapes) {
    return Reply.streamed(
        Reply.JSON,
        target -> {
          try (JsonGenerator json = Json.MAPPER.createGenerator(target)) {
            json.writeStartArray();
            each(job -> Json.MAPPER.writeTree(json, shapes.of(job)));
            json.writeEndArray();
          }
        });
  }
}
