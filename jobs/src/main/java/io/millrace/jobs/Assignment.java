package io.millrace.jobs;

/**
 * A job that is assigned to a worker. Reports on an assignment that is not the latest of its job
 * are refused.
 *
 * @param job the job as it was when it was assigned
 * @param worker the worker that has it
 * @param claim the claim in the kernel, with the fencing token
 */
public record Assignment(Job job, WorkerId worker, JobClaim claim) {}
