package io.millrace.jobs;

import io.millrace.store.Owner;
import io.millrace.store.TaskRef;

/**
 * A job that is assigned to a worker. Reports on an assignment that is not the latest of its job
 * are refused.
 *
 * @param job the job as it was when it was assigned
 * @param worker the worker that has it
 * @param claim the claim in the kernel, with the fencing token
 */
public record Assignment(Job job, WorkerId worker, JobClaim claim) {

  /**
   * The kernel's claim under which a worker has a job.
   *
   * @param client the client id that holds it
   * @param origin the kernel task's origin
   * @param token the fencing token: a later claim on the same job always has a larger one
   */
  public record JobClaim(long client, long origin, long token) {
    /** The owner of the kernel task while the claim lasts. */
    public Owner owner() {
      return Owner.client(client);
    }

    /** The kernel task. */
    public TaskRef ref() {
      return TaskRef.origin(origin);
    }
  }
}
