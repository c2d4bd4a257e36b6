/**
 * Execution nodes: they claim tasks of queues and manage the runners.
 *
 * <pre>
 *   store ── signals ──► ExecutionNode.step(now) ── claim, give back, orphan ──► store
 *                          │            ▲
 *                 begin, stop│            │ended, lost
 *                          ▼            │
 *                        Runners (processes of their own, which report to the store themselves)
 * </pre>
 */
@NullMarked
package io.millrace.queues.node;

import org.jspecify.annotations.NullMarked;
