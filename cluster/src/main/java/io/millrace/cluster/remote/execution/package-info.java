/**
 * How a member runs lambdas. It takes partitions that are addressed to it and signed, each name
 * once; so a lambda never runs twice, nor anywhere else.
 *
 * <pre>
 *   a free partition ── Inbox: signed? its own name? for us? not begun before? ──► taken
 *     ──► begun ──► run ──► result/NAME written ──► partition done
 *                    │ interrupted: no outcome, the partition is given back or lost
 * </pre>
 */
@NullMarked
package io.millrace.cluster.remote.execution;

import org.jspecify.annotations.NullMarked;
