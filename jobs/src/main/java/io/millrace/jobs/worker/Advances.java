package io.millrace.jobs.worker;

import io.millrace.jobs.Job;
import java.util.List;

/**
 * What workers have said of how far their jobs are: the last word on each.
 *
 * @param number what is said later has a larger one
 * @param jobs in the order in which it was said
 */
public record Advances(long number, List<Advance> jobs) {
  /**
   * How far a job is.
   *
   * @param job as it was when its worker got it
   * @param progress what its worker said last
   */
  public record Advance(Job job, Progress progress) {}
}
