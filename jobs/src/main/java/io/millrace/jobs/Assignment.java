package io.millrace.jobs;

/**
 * A job in the hands of a worker. Whoever acts on one that is not the latest of its job is refused.
 *
 * @param job the job as it was when it was assigned
 * @param worker who has it
 * @param claim the claim in the kernel, with the fencing token
 */
public record Assignment(Job job, WorkerId worker, JobClaim claim) {}
