package io.millrace.jobs.worker;

import org.jspecify.annotations.Nullable;

/**
 * How far a job is; at least one of percent and information is there.
 *
 * @param percent from 0.0 to 100.0; null when the worker did not say
 * @param info for people; null for none
 * @param atMillis when it was said, since the epoch
 */
public record Progress(@Nullable Double percent, @Nullable String info, long atMillis) {}
