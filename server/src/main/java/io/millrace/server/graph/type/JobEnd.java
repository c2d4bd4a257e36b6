package io.millrace.server.graph.type;

import io.millrace.jobs.Job;
import org.jspecify.annotations.Nullable;

/**
 * How a job has ended.
 *
 * @param job as it is then; null where it was deleted
 */
record JobEnd(@Nullable Job job) {}
