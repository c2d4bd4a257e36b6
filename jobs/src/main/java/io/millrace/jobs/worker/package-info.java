/**
 * Workers and the jobs in their hands: the manager owns what is said on connections, the dispatcher
 * matches jobs to workers, and they meet only here and in the registry.
 *
 * <pre>
 *   WorkerSocket ──► Conversation ─┐                        ┌─ Roster    who is there, was there, did what
 *   PollRoutes ────► Polls ────────┼─► Floor (one monitor) ─┼─ Seats     who is ready
 *   time ──────────► Vigil ────────┤                        ├─ Hands     which job is where, and how far
 *   dispatcher ────► WorkerManager ┘                        └─ Reports   how attempts ended, and who hears
 * </pre>
 */
@NullMarked
package io.millrace.jobs.worker;

import org.jspecify.annotations.NullMarked;
