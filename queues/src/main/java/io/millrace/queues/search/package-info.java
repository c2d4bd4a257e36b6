/**
 * Search for tasks in the manner of MongoDB: a filter, options, and the ways to the tasks.
 *
 * <pre>
 *   JSON ── FilterReader ──► Filter ──┐
 *   JSON ── SearchOptions.read ───────┼──► TaskSearch ── Plan ──► by id
 *                                     │                      ├──► by queue and kind
 *                                     │                      └──► all tasks in order of their ids
 * </pre>
 *
 * <p>Everything but {@link io.millrace.queues.search.TaskSearch} is pure.
 */
@NullMarked
package io.millrace.queues.search;

import org.jspecify.annotations.NullMarked;
