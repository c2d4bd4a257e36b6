package io.millrace.jobs.worker;

import io.millrace.jobs.Job;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How far a job is. At least one of percentage and information is present.
 *
 * @param percent from 0.0 to 100.0; null if the worker did not say
 * @param info for people; null for none
 * @param atMillis when it was reported, in milliseconds since the epoch
 */
public record Progress(@Nullable Double percent, @Nullable String info, long atMillis) {
  /**
   * The progress of several jobs, the last report for each.
   *
   * @param number later reports have larger numbers
   * @param jobs in the order of the reports
   */
  public record Updates(long number, List<Update> jobs) {}

  /**
   * The progress of one job.
   *
   * @param job as it was when its worker got it
   * @param progress what the worker reported last
   */
  public record Update(Job job, Progress progress) {}
}
