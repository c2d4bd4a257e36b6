/**
 * The job server's registry, after GridLike: jobs with payloads and results, batches and types.
 *
 * <p>Everything is tasks and documents of one {@link io.millrace.store.TaskStore}, and each step is
 * one transaction. An unfinished job is a document and one kernel task, whose group says who may
 * have it next:
 *
 * <pre>
 *   group of the kernel task        the job is              who claims it
 *   jobs/TYPE/immediate             pending                 any worker of the type, first
 *   jobs/TYPE/batch                 pending                 any worker, after those
 *   jobs/TYPE/failed/HASH           pending, failed before  any worker but that one, after all others
 *   the same, delayed               pending                 nobody until its time or its retry
 *   the same, claimed               running                 nobody while the claim lives
 *   none                            done or failed          nobody
 *
 *              submit               assign              complete
 *   payload ──────────► pending ──────────► running ──────────────► done ──► job of the next type
 *                        ▲ ▲ ▲   give back    │ fail                          (in the same commit)
 *                        │ │ └────────────────┤
 *                        │ └──────────────────┤ fewer than the allowed failures
 *                  retry │                    ▼
 *                        └───────────────── failed ◄── cancel
 * </pre>
 *
 * <p>HASH stands for the worker that failed at it last. The record of a claim in the job's document
 * is what a report is checked against, so a report by an older claim is refused whatever the kernel
 * task is doing. A job that has not failed is claimed and put on record by one commit; the claim on
 * one that has lasts seconds at first, and its record prolongs it.
 */
@NullMarked
package io.millrace.jobs;

import org.jspecify.annotations.NullMarked;
