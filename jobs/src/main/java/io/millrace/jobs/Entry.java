package io.millrace.jobs;

import org.jspecify.annotations.Nullable;

/**
 * A job with what only the registry knows of it.
 *
 * @param job the job
 * @param last the report that was stored last; null before the first
 */
record Entry(Job job, @Nullable Last last) {
  /** How an attempt ended. */
  enum Kind {
    COMPLETED,
    FAILED,
    RETURNED;

    static Kind of(Report report) {
      return switch (report) {
        case Report.Completed _ -> COMPLETED;
        case Report.Failed _ -> FAILED;
        case Report.Returned _ -> RETURNED;
      };
    }
  }

  /**
   * The report that was stored last, by which one is known that is repeated.
   *
   * @param token its claim's
   * @param kind how the attempt ended
   */
  record Last(long token, Kind kind) {}

  Entry with(Job next) {
    return new Entry(next, last);
  }
}
