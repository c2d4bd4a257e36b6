/**
 * The job server over HTTP and WebSocket: {@code /api}.
 *
 * <pre>
 *   clients  --> SubmitRoute, JobRoutes, BatchRoutes, WaitRoutes, JobEvents --> JobRegistry
 *   workers  --> WorkerSocket (WebSocket), PollRoutes (long poll)             --> Workers, PolledJobs
 * </pre>
 */
@NullMarked
package io.millrace.server.jobs;

import org.jspecify.annotations.NullMarked;
