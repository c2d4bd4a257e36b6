/**
 * Queues of tasks, execution nodes and task runners, after Disbatch 4.
 *
 * <p>This package has their forms and {@link io.millrace.queues.QueueBackend}, what every home of
 * queues does. In {@code registry}, everything is tasks and documents of one {@link
 * io.millrace.store.TaskStore}; each step is one transaction. A queue task is a document with the
 * fields of the original, and one kernel task, whose group says what may happen to it:
 *
 * <pre>
 *   group of the kernel task      status of the queue task        what it means
 *   queues/ID                     -2                              waiting: nodes claim it here
 *   queues/ID, delayed            -2                              waiting for its time or a retry
 *   queues/ID, claimed            -1, 0                           runs, as long as the claim lives
 *   queues/ID/held                other negative ones             held back until queued again
 *   queues/ID/finished            positive ones                   finished
 *
 *                 submit                  claim             start             finish
 *   (params) ───────────────► queued ──────────► claimed ──────────► running ────────► finished
 *                 requeue     ▲  │ ▲  give back    │                   │  orphan, terminate
 *   held ─────────────────────┘  │ └───────────────┘                   ▼
 *    ▲       cancel, block       │                                    held
 *    └───────────────────────────┘
 * </pre>
 *
 * <p>A task that fails (2) and is to be tried again goes back to queued, delayed.
 *
 * <p>A queue's limit {@code threads} is the kernel's limit on claims of the group, so it holds over
 * all nodes at every instant. A claim depends on the definitions of its queue and its node, two
 * kernel tasks that change with every change of a setting: a node with old settings claims nothing.
 */
@NullMarked
package io.millrace.queues;

import org.jspecify.annotations.NullMarked;
