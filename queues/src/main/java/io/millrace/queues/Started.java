package io.millrace.queues;

/**
 * A run whose work has begun, with its task as the start has left it: what its end needs to know,
 * so that a report is one commit if nothing came in between.
 *
 * @param run the run, at {@link Status#RUNNING}
 * @param task its task
 */
public record Started(Run run, QueueTask task) {}
