package io.millrace.queues;

/**
 * How many tasks a queue has.
 *
 * @param queued with a status of -2 or less, held ones too
 * @param running claimed or running
 * @param completed with a positive status
 */
public record QueueCounts(long queued, long running, long completed) {}
