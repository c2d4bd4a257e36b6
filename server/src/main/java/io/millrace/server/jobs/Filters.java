package io.millrace.server.jobs;

import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.jobs.JobRegistry.JobFilter;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.Priority;
import io.millrace.jobs.WorkerId;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Which jobs a request is about. */
final class Filters {
  private Filters() {}

  /**
   * The parameters {@code type}, {@code status}, {@code priority}, {@code batch} and {@code
   * worker}.
   *
   * @throws HttpProblem 400 if one is wrong
   */
  static JobFilter of(Query query) {
    return new JobFilter(
        query.text("type").orElse(null),
        word(query, "status", JobStatus::named, "pending, running, done or failed"),
        word(query, "priority", Priority::named, "immediate or batch"),
        query.text("batch").isPresent() ? query.integer("batch", 0, 1, Long.MAX_VALUE) : null,
        query.text("worker").map(WorkerId::new).orElse(null));
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
}
