/**
 * Search for tasks with filters and options like those of MongoDB.
 *
 * <pre>
 *   JSON ── TaskFilter.of ──► Filter ───┐
 *   JSON ── SearchOptions.read ───────┼──► TaskSearch ── Plan ──► by id
 *                                     │                      ├──► by queue and kind
 *                                     │                      └──► all tasks in order of their ids
 * </pre>
 *
 * <p>Everything except the two searches is free of side effects.
 */
@NullMarked
package io.millrace.queues.search;

import org.jspecify.annotations.NullMarked;
