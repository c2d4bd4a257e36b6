package io.millrace.jobs;

import org.jspecify.annotations.Nullable;

/**
 * Which jobs to list; null for "any" in every part.
 *
 * @param type the name of the type
 * @param status its status
 * @param priority how soon it was wanted
 * @param batch the number of its batch
 * @param worker the worker that has it or had it last
 */
public record JobFilter(
    @Nullable String type,
    @Nullable JobStatus status,
    @Nullable Priority priority,
    @Nullable Long batch,
    @Nullable WorkerId worker) {
  /** All jobs. */
  public static final JobFilter ALL = new JobFilter(null, null, null, null, null);

  /** Whether it lets this job through. */
  public boolean matches(Job job) {
    return (type == null || type.equals(job.type()))
        && (status == null || status == job.status())
        && (priority == null || priority == job.order().priority())
        && (batch == null || batch == job.batch())
        && (worker == null || worker.equals(job.hand().worker()));
  }
}
