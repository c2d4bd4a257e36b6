package io.millrace.jobs;

import org.jspecify.annotations.Nullable;

/**
 * A kind of job, for workers of that kind.
 *
 * @param name 1 to 64 characters out of {@code A-Z a-z 0-9 . _ -}; empty for the jobs of a server
 *     without types
 * @param description for people; null for none
 * @param resultBecomes the type of which each result becomes a new job; null for none
 */
public record JobType(String name, @Nullable String description, @Nullable String resultBecomes) {}
