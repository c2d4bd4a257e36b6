/**
 * Workers and the jobs that they work on. The manager owns the connections, the dispatcher matches
 * jobs to workers; they meet only in {@link io.millrace.jobs.worker.WorkerPool} and in the
 * registry.
 *
 * <pre>
 *   WebSocket ───► WorkerProtocol ─┐                 ┌─ WorkerDirectory  who is or was connected
 *   long poll ───► PolledWorkers ──┼─► WorkerManager ┼─ ReadyWorkers     who has room for a job
 *   time ────────► Heartbeats ─────┤   (one monitor) ├─ ActiveJobs       who works on which job
 *   dispatcher ──► WorkerPool ─────┘                 └─ Reports          how attempts ended
 * </pre>
 */
@NullMarked
package io.millrace.jobs.worker;

import org.jspecify.annotations.NullMarked;
