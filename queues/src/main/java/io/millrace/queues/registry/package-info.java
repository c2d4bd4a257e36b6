/**
 * Queues kept in a task store. {@link io.millrace.queues.registry.Queues} is the entry.
 *
 * <pre>
 *   TaskSubmission ──► Claiming ──► RunRegistry ──► RunEnd ──► TaskRetention, TaskArchive
 *    (UniqueHolds)                  ▲        TaskRegistry,
 *                                Sweeper     TaskChanges
 * </pre>
 *
 * <p>Every change of a task is one transaction, built with {@link
 * io.millrace.queues.registry.TaskTransitions}. What is read beside it: {@link
 * io.millrace.queues.registry.TaskIndex} finds tasks, {@code TaskExplainer} says why one waits, and
 * {@code AttemptWatch} follows attempts, from which {@code TaskSpans} are recorded.
 */
@NullMarked
package io.millrace.queues.registry;

import org.jspecify.annotations.NullMarked;
